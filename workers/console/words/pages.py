"""Words of the screens of pages."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "pages.find": ("Find a page", "查找页面"),
    "pages.address": ("Address or page id", "网址或页面编号"),
    "pages.not_taken": ("No crawl has taken this address", "没有任务抓取这个网址"),
    "pages.near": ("Known addresses like it", "相似的已知网址"),
    "pages.way": ("Its way through", "抓取过程："),
    "pages.found_on": ("Found on", "来源页面"),
    "pages.last_visit": ("Last visit", "最近访问"),
    "pages.next_visit": ("Next visit", "下次访问"),
    "pages.waits_for": ("Waits for", "等待"),
    "pages.record": ("Record", "记录"),
    "pages.no_record": ("No record of this page is stored.", "没有这个页面的记录。"),
    "pages.host": ("Host", "主机"),
    "pages.title": ("Title", "标题"),
    "pages.page_kind": ("Kind of page", "页面类型"),
    "pages.author": ("Author", "作者"),
    "pages.published": ("Published", "发布时间"),
    "pages.fetched": ("Fetched", "抓取时间"),
    "pages.language": ("Language, charset", "语言、字符集"),
    "pages.body": ("Body", "正文"),
    "pages.text": ("Text of the record", "记录的文字"),
    "pages.chars": ("{n} character", "{n} characters", "{n} 字"),
    "pages.posts": ("Posts", "帖子数"),
    "pages.model": ("Model version", "模型版本"),
    "pages.warning": ("warning", "警告"),
    "pages.texts": ("Why each text was kept or cut", "每段文字保留或删除的原因"),
    "pages.which": ("Which texts", "哪些文字"),
    "pages.all": ("all", "全部"),
    "pages.kept": ("{n} kept", "保留 {n}"),
    "pages.cut": ("{n} cut", "删除 {n}"),
    "pages.against": ("against", "对"),
    "pages.as_fetched": ("The page as fetched, silent", "抓取到的页面（静默）"),
    "pages.not_archived": ("The answer cannot be read again.", "无法重新读取响应。"),
    "pages.not_same": (
        "The stored record has another text: another version of this program made it, or a hook "
        "changed it. The verdicts are of a reading now.",
        "存储的记录文字不同：由程序的其他版本生成，或被扩展修改。以下判断来自此刻的读取。",
    ),
    "pages.poison": ("Workers died on this page", "清洗此页面时进程崩溃"),
    "pages.poison_lead": (
        "It is set aside: the crawl goes on without it. Its steps below name each death. Do not "
        "retry it before the program is mended; who maintains it needs the copy, or the address.",
        "页面已搁置，抓取照常进行；下方的经过记录了每次崩溃。程序修复前请不要重试；维护者需要副本或网址。",
    ),
    "pages.poison_copy": (
        "Its kept copy",
        "它的保留副本",
    ),
    "pages.poison_none": (
        "No copy of it was kept: send its address and the steps below. (A crawl that "
        "archives no responses keeps none, nor is a page kept that is too large, or on which a "
        "worker died while it was kept.)",
        "没有保留副本，请发送其网址和下方的经过。（任务不存档响应、页面过大，或保留时进程也崩溃，"
        "则没有副本。）",
    ),
    "pages.poison_older": (
        "What is shown below is an older answer of the page.",
        "下方显示的是该页面较早的响应。",
    ),
    "pages.links": ("Links", "链接"),
    "pages.images": ("Images", "图片"),
    "pages.by_kind": ("By kind", "按类型"),
    "pages.list": ("The first {n}", "前 {n} 个"),
    "pages.link": ("Link", "链接"),
    "pages.image": ("Image", "图片"),
    "pages.kind": ("Kind", "类型"),
    "pages.reason": ("Reason", "原因"),
    "pages.score": ("Score", "得分"),
    "pages.clean_again": ("Clean again, to compare", "重新清洗并比较"),
    "pages.again_lead": (
        "What the newest model (version {version}) makes of the stored answer, compared with the "
        "record. Nothing is stored.",
        "最新模型（版本 {version}）对存储的响应的结果，与记录比较。不保存任何内容。",
    ),
    "pages.no_difference": ("No difference.", "没有差别。"),
    "pages.happened": ("What happened to it", "页面的经历"),
    "moment.cleaned": ("first cleaned", "首次清洗"),
    "moment.version": ("other content", "内容有变"),
    "moment.failed": ("failed", "失败"),
    "moment.model": ("model of the host", "主机模型"),
    "moment.drift": ("the host has changed", "主机有变化"),
    "moment.judged": ("judged by a topic", "主题评判"),
    "moment.reported": ("reported", "报告"),
    "pages.back": ("Back to the page", "返回页面"),
}

"""Words of reported verdicts."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "cases.title": ("Reported verdicts and kept copies", "已报告的判断与保留的副本"),
    "cases.copy": ("Kept copy of a page that killed workers", "使进程崩溃的页面的副本"),
    "cases.copied": ("Kept", "保存时间"),
    "cases.download": ("Download the copy (zip)", "下载副本（zip）"),
    "cases.to_group": ("The pages of this host that kill workers", "该主机使进程崩溃的页面"),
    "cases.one": ("A reported verdict", "一条已报告的判断"),
    "cases.none": (
        "Nobody has reported a verdict. A page has a button beside each of its texts, links, "
        "images and fields. Copies of pages on which workers died appear here by themselves.",
        "还没有报告。页面的每段文字、链接、图片和字段旁都有按钮。使进程崩溃的页面的副本会自动出现在这里。",
    ),
    "cases.lead": (
        "Each is kept with its page as it was, and can be exported as a test folder: a test "
        "that fails until the cleaner does what is right.",
        "每条报告都保存当时的页面，可导出为测试目录：在清洗结果正确之前测试会失败。",
    ),
    "cases.page": ("Page", "页面"),
    "cases.part": ("Part", "部分"),
    "cases.part_text": ("Text or address", "文字或网址"),
    "cases.was": ("Found", "清洗结果"),
    "cases.wanted": ("Right is", "正确的是"),
    "cases.nothing": ("nothing", "无"),
    "cases.note": ("Reason", "原因"),
    "cases.who": ("Who", "报告者"),
    "cases.when": ("When", "时间"),
    "cases.now": ("Now", "现状"),
    "cases.differs": ("Not as wanted", "不符合期望的部分"),
    "cases.export": ("As a test folder (zip)", "导出测试目录（zip）"),
    "cases.export_all": ("All as test folders (zip)", "导出全部测试目录（zip）"),
    "cases.by_command": ("By command", "用命令导出"),
    "cases.reported": ("reported", "已报告"),
    "cases.how.title": (
        "The title that the record should have.",
        "记录应有的标题。",
    ),
    "cases.how.author": (
        "The author that the record should have; leave it empty if the page names none.",
        "记录应有的作者；页面没有作者时留空。",
    ),
    "cases.how.published_at": (
        "As 2026-10-05 18:30+08:00; leave it empty if the page names no time.",
        "格式如 2026-10-05 18:30+08:00；页面没有时间时留空。",
    ),
    "case_part.text": ("text", "文字"),
    "case_part.title": ("title of the record", "记录标题"),
    "case_part.author": ("author", "作者"),
    "case_part.published_at": ("time of publication", "发布时间"),
    "case_part.kind": ("kind of the page", "页面类型"),
    "case_part.crash": ("whole page", "整个页面"),
    "crash.killed": ("workers died on it", "清洗时进程崩溃"),
    "crash.cleaned": ("it is cleaned", "能正常清洗"),
    "case_part.link": ("link", "链接"),
    "case_part.image": ("image", "图片"),
    "case_state.stands": ("still as reported", "仍与报告时相同"),
    "case_state.mended": ("as wanted", "已符合期望"),
    "case_state.changed": ("changed, not as wanted", "有变化，但不符合期望"),
    "case_state.unreadable": (
        "its model is of another version of this program",
        "其模型属于程序的其他版本",
    ),
    "case_state.not_tried": (
        "not tried again: it killed workers",
        "未再尝试：它曾使进程崩溃",
    ),
    "cases.crash": (
        "A worker has kept this copy of the page as it was fetched. Who maintains the program "
        "needs it: download it and send it there with its address; then mark the group as seen. "
        "The page itself is not retried until somebody asks for it.",
        "工作进程保存了该页面抓取时的副本。程序的维护者需要它：请下载并连同网址一起发送，然后将该组标记"
        "为已查看。在有人要求之前不会重试该页面。",
    ),
    "wanted.body": ("belongs to the body", "属于正文"),
    "wanted.not_body": ("does not belong to the body", "不属于正文"),
}

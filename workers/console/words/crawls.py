"""Words of the screens of crawls."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "crawls.title": ("Crawls", "抓取任务"),
    "crawls.name": ("Crawl", "任务"),
    "crawls.state": ("State", "状态"),
    "crawls.only_queued": ("only in the queue", "仅在队列中"),
    "crawls.why_only_queued": (
        "The queue has this crawl, the store does not: it was ordered a moment ago, or the store "
        "was lost, or is an older copy.",
        "队列中有这个任务，存储中没有：任务刚刚下达，或者存储已丢失、是较旧的副本。",
    ),
    "crawls.records": ("Records", "记录数"),
    "crawls.failed": ("Failed", "失败数"),
    "crawls.pending": ("To fetch", "待抓取"),
    "crawls.in_flight": ("Under way", "处理中"),
    "crawls.flight": (
        "fetching {fetching}, to clean {cleaning}",
        "抓取中 {fetching}，待清洗 {cleaning}",
    ),
    "crawls.hosts": ("Hosts", "主机数"),
    "crawls.left": ("Left of limit", "剩余额度"),
    "crawls.begun": ("Begun", "开始于"),
    "crawls.done": ("Ended URLs", "已结束网址"),
    "crawls.fetched": ("{n} response", "{n} responses", "{n} 个响应"),
    "crawls.of_limit": ("of at most {most}", "上限 {most}"),
    "crawls.spilled": ("{n} of them kept on disk", "其中 {n} 个存放在磁盘"),
    "crawls.ended": ("How URLs ended", "网址的结果"),
    "crawls.by_state": ("URLs by final state", "按最终状态"),
    "crawls.order": ("What was ordered", "任务设置"),
    "crawls.seeds": ("Seeds", "种子"),
    "crawls.imported": ("none: its pages were imported", "无：页面为导入"),
    "crawls.more": ("and {n} more", "另有 {n} 个"),
    "crawls.scope": ("Follows links", "跟随链接"),
    "crawls.max_pages": ("Page limit", "页数上限"),
    "crawls.max_depth": ("Depth limit", "深度上限"),
    "crawls.none": ("none", "无"),
    "crawls.delay": ("Delay", "抓取间隔"),
    "crawls.usual": ("1 s, loopback hosts 0 s", "1 秒，本机主机 0 秒"),
    "crawls.include": ("Only", "仅限"),
    "crawls.exclude": ("Never", "排除"),
    "crawls.topic": ("Topic", "主题"),
    "crawls.next_visit": ("Next visit", "下次访问"),
    "crawls.causes": ("Failures by cause", "失败原因"),
    "crawls.no_failures": ("No URL has failed.", "没有失败的网址。"),
    "crawls.worst": ("Hosts with most failures", "失败最多的主机"),
    "crawls.queues": ("Largest queues", "最长的队列"),
    "scope.host": ("to the hosts of its seeds", "仅种子主机"),
    "scope.domain": ("to the domains of its seeds", "种子所在域名"),
    "scope.any": ("to all hosts", "所有主机"),
    "scope.topic": ("that lead to its topic", "与主题相关的链接"),
}

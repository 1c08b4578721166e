"""Words of the first signs of trouble."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "signs.title": ("To look at", "需要查看"),
    "sign_kind.silent": ("process is silent", "进程无响应"),
    "sign_kind.room": ("little room left", "空间不足"),
    "sign_kind.poison": ("page kills workers", "页面使进程崩溃"),
    "sign_kind.wall": ("pages without a body", "页面没有正文"),
    "sign_kind.changed": ("site has changed", "网站改版"),
    "sign_kind.barren": ("nothing new", "没有新内容"),
    "sign_kind.paused": ("host is paused", "主机暂停中"),
    "signs.silent": ("not heard for {span}, since", "已 {span} 没有响应，始于"),
    "signs.holds": ("; holds {n} page", "; holds {n} pages", "；持有 {n} 个页面"),
    "signs.of_host": ("of", "，主机"),
    "signs.holds_none": (
        "; what it held was given to others, but it does no work",
        "；其工作已交给其他进程，但它不再工作",
    ),
    "signs.room_disk": (
        "{free} of {total} of the disk are free, and fetching stops when it is full",
        "磁盘剩余 {free}，共 {total}；磁盘满时停止抓取",
    ),
    "signs.room_quota": (
        "{free} are left of the quota of {total}, and fetching stops when it is spent",
        "配额剩余 {free}，共 {total}；用完时停止抓取",
    ),
    "signs.room_frees": (
        "; dropping raw pages frees {size}, of the finished crawl",
        "；删除原始页面可释放 {size}，所属的已完成任务：",
    ),
    "signs.room_frees_none": (
        "; no finished crawl has raw pages to drop",
        "；没有可删除原始页面的已完成任务",
    ),
    "signs.poison": (
        "{n} page that workers died on, set aside",
        "{n} pages that workers died on, set aside",
        "{n} 个导致工作进程崩溃的页面已搁置",
    ),
    "signs.wall": (
        ", not learned: {n} of {of} pages have no body at its place; it began",
        "，未学习：{of} 个页面中 {n} 个在原处没有正文，始于",
    ),
    "signs.mended": ("mended", "已解决"),
    "signs.bodies_back": (
        "the last {n} of {of} pages have a body",
        "最近 {of} 个页面中 {n} 个有正文",
    ),
    "signs.bodies_left": (
        "; {n} page without one is left",
        "; {n} pages without one are left",
        "；还有 {n} 个没有正文",
    ),
    "signs.changed": ("; version {version} is learned,", "；已学习版本 {version}，"),
    "signs.taken_back": ("; an older version was taken back,", "；已回滚到旧版本，"),
    "signs.learning": ("; it is being learned anew,", "；正在重新学习，"),
    "signs.recleaned": (
        "{n} page re-cleaned, nothing left",
        "{n} pages re-cleaned, nothing left",
        "已重新清洗 {n} 个页面，没有剩余",
    ),
    "signs.nothing_older": (
        "no page since is of an older version",
        "此后没有旧版本的页面",
    ),
    "signs.older": (
        "{n} page fetched since is cleaned by an older version",
        "{n} pages fetched since are cleaned by an older version",
        "此后抓取的页面中还有 {n} 个由旧版本清洗",
    ),
    "signs.at_work": ("a worker is at it", "工作进程正在处理"),
    "signs.barren": (
        "{n} page, {news} with news, and more wait",
        "{n} pages, {news} with news, and more wait",
        "已抓 {n} 个页面，仅 {news} 个有新内容，后面还有很多",
    ),
    "signs.paused": ("since {since} by {who}", "自 {since} 起由 {who} 暂停"),
}

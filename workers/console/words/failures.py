"""Words of the screens of failures, with what mends each cause."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "failures.title": ("Failures", "失败"),
    "failures.any": ("every cause", "所有原因"),
    "failures.causes": ("Causes over all hosts", "各主机合计原因"),
    "failures.groups": ("Hosts and causes", "主机与原因"),
    "failures.none": ("No URL has failed that fits.", "没有符合条件的失败网址。"),
    "failures.first": ("First", "最早"),
    "failures.urls": ("Its URLs, newest first", "网址，最近的在前"),
    "failures.url": ("URL", "网址"),
    "failures.detail": ("Detail", "详情"),
    "failures.attempts": ("Attempts", "尝试次数"),
    "failures.at": ("Failed", "失败于"),
    "failures.all": ("All failures", "全部失败"),
    "failures.copy": ("Copy of the page", "页面副本"),
    "failures.has_copy": ("kept copy", "保留的副本"),
    "failures.no_copy": (
        "none: send the address",
        "无：请发送网址",
    ),
    "failures.grown": ("Grown since you read the first part", "读取首页之后增多的组"),
    "failures.grown_lead": (
        "They stand before this part now, and may have stood behind it: look whether you know "
        "them.",
        "它们现在排在本页之前，可能此前排在后面：请查看是否已读过。",
    ),
    "failures.seen": ("seen", "已查看"),
    "failures.seen_by": ("by {who},", "查看者：{who}，"),
    "failures.mended": ("Retry, when the program was mended", "程序修复后再重试"),
    "failures.mended_lead": (
        "Each of these pages kills three workers again, unless the program was mended since.",
        "除非已运行程序的新版本，否则每个页面会再次使三个工作进程崩溃。",
    ),
    "hint.dns": (
        "The name has no address. When many hosts fail so, look at the resolver of this machine.",
        "域名无法解析。若许多主机都如此，请检查本机的 DNS。",
    ),
    "hint.address_refused": (
        "The host has a private address, which this crawl may not ask (--allow-private).",
        "主机是私有地址，该任务不允许访问（--allow-private）。",
    ),
    "hint.connect": (
        "The host or the way to it was away. Retry when it answers again.",
        "主机或网络不通。恢复后重试即可。",
    ),
    "hint.timeout": (
        "The host was too slow. Retry later, with a longer delay or fewer requests at a time.",
        "主机响应太慢。稍后重试，并加长间隔或减少并发。",
    ),
    "hint.tls": (
        "The encrypted connection failed. Retry later; if it stays, the host speaks no known TLS.",
        "加密连接失败。稍后重试；若持续失败，则主机的 TLS 不受支持。",
    ),
    "hint.certificate": (
        "The certificate is wrong, and this crawl takes right ones only.",
        "证书有误，而该任务只接受正确的证书。",
    ),
    "hint.broken_answer": (
        "The answer was cut short or was no HTTP. Retry later.",
        "响应不完整或不是 HTTP。请稍后重试。",
    ),
    "hint.status_401": (
        "The pages want a login. Nothing mends this from here.",
        "页面要求登录，此处无法解决。",
    ),
    "hint.status_403": (
        "The host refuses us. Pause it, and look whether its pages still open in a browser.",
        "主机拒绝访问。请先暂停，再用浏览器查看页面是否正常。",
    ),
    "hint.status_404": (
        "The pages are gone: dead links of the site. Nothing is wrong.",
        "页面已不存在，是站点的死链，无需处理。",
    ),
    "hint.status_429": (
        "We asked too often. Give the host a longer delay, then retry.",
        "请求过于频繁。加长该主机的间隔后重试。",
    ),
    "hint.status_4xx": (
        "The host refuses these addresses. Look at one of them.",
        "主机拒绝这些网址，请查看其中一个。",
    ),
    "hint.status_5xx": (
        "The host had an error. Retry when it works again.",
        "主机出错。恢复后重试即可。",
    ),
    "hint.too_large": (
        "The answers are larger than the limit.",
        "响应超过大小上限。",
    ),
    "hint.not_html": (
        "The addresses lead to files. Leave them out by a pattern.",
        "这些网址是文件，可用规则排除。",
    ),
    "hint.gone": (
        "A visit found a page that reads as not found; the last record stays.",
        "重访时页面内容显示不存在，保留最后的记录。",
    ),
    "hint.not_image": (
        "The addresses of images gave something else.",
        "图片网址返回的不是图片。",
    ),
    "hint.bad_redirect": (
        "The host redirects to nowhere. Nothing mends this from here.",
        "主机的重定向没有目标，此处无法解决。",
    ),
    "hint.robots": (
        "robots.txt forbids them, or answers 5xx. After 5xx: retry when it works again.",
        "robots.txt 禁止，或返回 5xx。若为 5xx，恢复后重试。",
    ),
    "hint.pattern": (
        "Patterns of the crawl leave them out.",
        "被任务的规则排除。",
    ),
    "hint.trap": (
        "Their URL class is stopped. Lift the stop if it was wrong, then retry.",
        "所属网址类别已停止。若判断有误，先解除再重试。",
    ),
    "hint.dropped": (
        "A record step of another package dropped their records.",
        "记录被其他软件包的步骤丢弃。",
    ),
    "hint.poison": (
        "Workers died on each of these pages, so they are set aside: the crawl goes on without "
        "them. Do not retry them. They show a defect of the program: send the kept copy to who "
        "maintains it, then mark the group as seen. There is no copy where the crawl archives no "
        "responses, the page was too large, or keeping it killed a worker, too.",
        "清洗这些页面时工作进程崩溃，因此已搁置，抓取照常进行。请不要重试：这说明程序有缺陷，请把保留"
        "的副本发给程序的维护者，然后将该组标记为已查看。若任务不存档响应、页面过大，或保留副本时进程"
        "也崩溃，则没有副本。",
    ),
    "hint.page_error": (
        "They cannot be cleaned; the log of the workers has the reason.",
        "页面无法清洗，原因见工作进程日志。",
    ),
    "hint.internal": (
        "A defect of the program; the log of the workers has the traceback.",
        "程序缺陷，工作进程日志里有调用栈。",
    ),
}

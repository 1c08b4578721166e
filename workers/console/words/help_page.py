"""Words of the help page."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "help.title": ("Help", "使用帮助"),
    "help.intro": (
        "Each page of this console answers one question. Its address is its whole state: copy it "
        "to a colleague, and the colleague sees the same rows.",
        "控制台的每个页面回答一个问题。页面地址包含全部状态：把地址发给同事，同事看到相同的内容。",
    ),
    "help.questions": ("Which page answers what", "哪个页面回答什么"),
    "help.question": ("Question", "问题"),
    "help.page": ("Page", "所在页面"),
    "help.keys": ("Keyboard", "键盘"),
    "help.keys_off": (
        "Keys work on every page but this one, and never while you type.",
        "快捷键在其他页面可用，输入文字时不起作用。",
    ),
    "help.key_go": ("then the letter of a page: go there", "再按页面字母：前往该页"),
    "help.key_rows": ("next row, row before", "下一行，上一行"),
    "help.key_open": ("open the row", "打开该行"),
    "help.key_search": ("to the search field", "进入搜索框"),
    "help.key_help": ("this page", "本页"),
    "help.q_now": (
        "Does it crawl, as fast as usual? What holds it back?",
        "抓取正常吗？是什么拖住了它？",
    ),
    "help.q_crawls": (
        "Which crawls are there, how far are they, what do they spend?",
        "有哪些任务，进展如何，用了多少额度？",
    ),
    "help.q_hosts": (
        "Which hosts are in trouble? What does a host wait for, until when, who paused it?",
        "哪些主机有问题？主机在等什么、等到何时、谁暂停了它？",
    ),
    "help.q_pages": (
        "What became of this address? Why was this text cut or kept?",
        "这个网址后来怎样了？这段文字为什么被删除或保留？",
    ),
    "help.q_failures": (
        "What fails, since when, one cause or many, what mends it?",
        "什么失败了，从何时起，一个原因还是多个，怎样解决？",
    ),
    "help.q_queues": (
        "Who is dead or stuck? What waits for workers?",
        "哪个进程终止或卡住了？什么在等待处理？",
    ),
    "help.q_topics": (
        "Does a topic still find stories? Which pages are relevant, and why?",
        "主题还能找到报道吗？哪些页面相关，为什么？",
    ),
    "help.q_events": (
        "What changed before it went wrong? Who did what?",
        "出问题之前发生了什么变化？谁做了什么？",
    ),
    "help.q_search": (
        "Which pages have these words? Where is this host, crawl or address?",
        "哪些网页包含这些词语？这个主机、任务或网址在哪里？",
    ),
    "help.q_space": (
        "What takes the room, and how much is left?",
        "什么占用了空间，还剩多少？",
    ),
    "help.programs": ("For programs", "供程序使用"),
    "help.healthz": ("200 while the console lives", "控制台存活时返回 200"),
    "help.readyz": ("200 while queue and store answer", "队列与存储有响应时返回 200"),
    "help.api/v1": (
        "JSON for programs with a token; described in /api/openapi.json",
        "供持有令牌的程序使用的 JSON，说明见 /api/openapi.json",
    ),
    "help.metrics": (
        "counters for Prometheus; with a password, HTTP Basic with any user name",
        "Prometheus 计数器；有密码时用 HTTP Basic，用户名任意",
    ),
}

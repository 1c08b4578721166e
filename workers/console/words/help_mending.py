"""Words of the help page about trouble: what one sees, what it means, what mends it."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "help.mend": (
        "Something is wrong: what you see, what it means, what mends it",
        "出了问题：看到什么、意味着什么、怎样解决",
    ),
    "help.mend_lead": (
        "Begin at Now. Its sentence names the one thing that holds everything back; “To look "
        "at” names the rest, the worst first. Each sign leads to its page.",
        "从“当前状况”开始：首句指出拖住全局的一件事；“需要查看”列出其余问题，最严重的在前。每"
        "条都可点击进入。",
    ),
    "help.see": ("What you see", "看到的提示"),
    "help.means": ("What it means", "含义"),
    "help.way": ("What mends it", "解决办法"),
    "help.acting": ("How a button works", "按钮怎样工作"),
    "help.acting_1": (
        "A button opens a page that says in numbers of this moment what would happen. Only "
        "Confirm does it, once, however often it is sent.",
        "按钮先打开一个页面，用此刻的数字说明将发生什么。只有点“确认”才执行，重复提交也只执行"
        "一次。",
    ),
    "help.acting_2": (
        "The result says what happened; Undo stands there where there is a way back. What nothing "
        "brings back asks for the name.",
        "结果页说明发生了什么；可以撤回的操作有“撤销”。无法撤回的操作要求输入名称。",
    ),
    "help.acting_3": (
        "Long actions run in the background; their number leads to the progress, and to Stop. "
        "Everything is kept under Events, “Actions”.",
        "长时间操作在后台进行，点编号可查看进度或停止。所有操作都记录在“事件”的“操作记录”中。",
    ),
    "help.acting_4": (
        "No buttons? This console is read-only: start it with --allow-actions.",
        "没有按钮？控制台为只读：请用 --allow-actions 启动。",
    ),
    "help.see_paused": (
        "“host is paused”, with who, since when and why",
        "“主机暂停中”，并注明何人、何时、为何",
    ),
    "help.means_paused": (
        "A person holds back all requests to the host, in every crawl. Its URLs wait.",
        "有人暂停了对该主机的所有请求（涉及所有任务），其网址在等待。",
    ),
    "help.way_paused": (
        "Open the host, Resume, Confirm. It is asked again within seconds.",
        "打开该主机，点“恢复”，再“确认”。几秒内重新开始抓取。",
    ),
    "help.see_wall": (
        "“pages without a body”: bodies are elsewhere, not learned",
        "“页面没有正文”：正文位置变化，且未学习",
    ),
    "help.means_wall": (
        "The host answers 200, but with a login page, a captcha or an empty shell: an example"
        " stands at its changes. Such pages are stored meanwhile.",
        "主机返回 200，但内容是登录页、验证码或空壳（变化一栏有示例）。期间这些页面会照样存储。",
    ),
    "help.way_wall": (
        "Open the host, compare an example with its raw page. Pause. When the wall is down: "
        "Resume, then “Fetch again”: the form offers the pages since then whose record has no"
        " body.",
        "打开该主机，查看示例的原始页面；点“暂停”。问题消除后：点“恢复”，再点“重新抓取”，表单"
        "默认选中此后没有正文的页面。",
    ),
    "help.see_changed": (
        "“site has changed”, with the version that is learned",
        "“网站改版”，并注明学到的版本",
    ),
    "help.means_changed": (
        "Pages have another template. The host was learned anew by itself; new pages are "
        "cleaned with that version.",
        "页面换了模板。系统已自动重新学习，新页面用新版本清洗。",
    ),
    "help.way_changed": (
        "Open the host, “Re-clean: dry run” shows what would change for older pages, then Re-"
        "clean. If the new version is worse: Roll back beside the older version; Undo on the "
        "result takes it back.",
        "打开该主机，“重新清洗（试运行）”显示旧页面会有哪些变化，然后“重新清洗”。如果新版本更"
        "差：在旧版本旁点“回滚”；结果页上的“撤销”可再恢复。",
    ),
    "help.see_full": (
        "Red sentence: no room on the disk, or the quota is reached",
        "红色提示：磁盘已满或达到配额",
    ),
    "help.means_full": (
        "Nothing is fetched, and nothing is lost. Work goes on by itself as soon as there is room.",
        "停止抓取，但数据不会丢失。有空间后自动继续。",
    ),
    "help.way_full": (
        "Space: “Drop raw pages” of a finished crawl; the page says how many bytes come free."
        " Type its name, Confirm. Records stay; those pages cannot be cleaned again.",
        "打开“存储空间”，对已完成的任务点“删除原始页面”，页面会说明可释放的字节数；输入任务名"
        "并确认。记录保留，但这些页面不能再重新清洗。",
    ),
    "help.see_barren": (
        "“nothing new”: a class of URLs that is fetched on and on",
        "“没有新内容”：某一类网址不断被抓取",
    ),
    "help.means_barren": (
        "A calendar, a filter or a session makes endless URLs whose pages tell nothing new. "
        "Usually such a class is stopped by itself (Queues, stopped classes).",
        "日历、筛选或会话产生无穷的网址，页面没有新内容。通常系统会自动停止这类网址（见“队列”"
        "中的停止类别）。",
    ),
    "help.way_barren": (
        "Open the host, find the class in its URL classes, Forbid, Confirm. Its waiting URLs "
        "end as excluded. Reset takes it back.",
        "打开该主机，在“网址类别”中找到这一类，点“禁止”，再“确认”。等待中的网址以“已排除”结束"
        "。“重置”可撤回。",
    ),
    "help.see_silent": (
        "“process is silent”, with its pages",
        "“进程无响应”，并注明持有的页面",
    ),
    "help.means_silent": (
        "A worker or spider hangs, was stopped, or its machine is gone. After 20 s its pages "
        "are given to others by themselves; after a minute it is forgotten.",
        "工作进程或爬虫卡住、被停止或机器掉线。20 秒后其页面自动交给其他进程，一分钟后从列表移除。",
    ),
    "help.way_silent": (
        "Queues, “Declare dead” beside the process, Confirm: others get its work at once. "
        "Late results of it are refused, so nothing counts twice.",
        "打开“队列”，在该进程旁点“声明进程已死”并确认：其工作立即交给其他进程。迟到的结果会被"
        "拒绝，不会重复计数。",
    ),
    "help.see_poison": (
        "“page kills workers”",
        "“页面使进程崩溃”",
    ),
    "help.means_poison": (
        "Processes died while they cleaned a page. After three deaths the page is a failure "
        "of its own; the others of its job are done.",
        "进程在清洗某页面时崩溃。三次之后该页面单独记为失败，同一作业的其他页面照常完成。",
    ),
    "help.way_poison": (
        "Follow the sign to the failure, open the page: its way shows each death. Report it "
        "with its address. Retry once the program is mended.",
        "点该提示进入失败列表，打开页面：“经过”一栏记录每次崩溃。请报告该网址；程序修复后再重试。",
    ),
    "help.see_failing": (
        "Many failures of one cause",
        "大量同一原因的失败",
    ),
    "help.means_failing": (
        "One cause at one host is most often the host's; at many hosts it is ours: network, "
        "address, settings.",
        "单个主机的同一原因多半是对方问题；多个主机则多半是我方问题：网络、出口地址或设置。",
    ),
    "help.way_failing": (
        "Failures, open the group: it says what mends it. “Retry 20 first”; if they succeed, "
        "“Retry all”.",
        "打开“失败”，进入该组：页面说明解决办法。先“先重试 20 个”，成功后再“全部重试”。",
    ),
    "help.see_behind": (
        "“Workers are behind”, or pages wait for workers",
        "工作进程跟不上，页面等待处理",
    ),
    "help.means_behind": (
        "Pages are fetched faster than they are cleaned. Fetching waits by itself: nothing is"
        " lost.",
        "抓取快于清洗。抓取会自动等待，数据不会丢失。",
    ),
    "help.way_behind": (
        "Queues: is a process silent, is one job held for long? Otherwise start more workers.",
        "打开“队列”：是否有进程无响应、作业持有过久？否则增加工作进程。",
    ),
}

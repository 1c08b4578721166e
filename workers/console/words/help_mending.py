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
        "at” names the rest, the worst first. Each sign leads to its page; its buttons mend it. "
        "“Mended” stands there for half an hour when nothing is left to do.",
        "从“当前状况”开始：首句指出拖住全局的一件事；“需要查看”列出其余问题，最严重的在前。每"
        "条都可点击进入，旁边的按钮用于解决问题。全部完成后显示“已解决”，保留半小时。",
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
        "The result says what happened, and what is left to do at the host, with the next "
        "buttons; Undo stands there where there is a way back. What nothing brings back asks for "
        "the name.",
        "结果页说明发生了什么，以及该主机还需要做什么，并附有下一步的按钮；可以撤回的操作有“撤"
        "销”。无法撤回的操作要求输入名称。",
    ),
    "help.acting_3": (
        "A worker does long actions; the result says how far it is, and leads to Stop. "
        "Everything is kept under Events, “Who did what”.",
        "长时间操作由工作进程执行，结果页显示进度，并可进入停止。所有操作都记录在“事件”的“操作记"
        "录”中。",
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
        "“Resume” beside the sign, Confirm. It is asked again within seconds. “Try one page” "
        "shows before what it answers.",
        "在该提示旁点“恢复”，再“确认”。几秒内重新开始抓取。可先用“试抓一页”查看它的响应。",
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
        "“Pause” beside the sign. “Try one page” fetches one page and shows what came, until "
        "it has a body. Then “Resume”, which stands in the place of Pause, and “Fetch again” the "
        "pages since then without a body. It is done when the sign, here and on the result, says "
        "that the last 8 of 8 pages have a body.",
        "在该提示旁点“暂停”。用“试抓一页”抓取一个页面并查看结果，直到页面有正文。然后点“恢复”（"
        "在“暂停”的位置），再点“重新抓取”此后没有正文的页面。当提示（结果页上也有）"
        "显示最近 8 个页面都有正文时即告完成。",
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
        "“Re-clean: dry run” beside the sign, Confirm: the result says what would change for "
        "older pages, and leads to their re-cleaning, Confirm. It is done when the sign says that "
        "nothing is left. Roll back (host, beside an older version) only if the new version is "
        "worse.",
        "在该提示旁点“重新清洗（试运行）”并确认：结果页显示旧页面会有哪些变化，并可进入重新清洗，再"
        "确认一次。当提示显示没有剩余时即告完成。仅当新版本更差时才“回滚”（主机页面，旧版本旁）。",
    ),
    "help.see_room": (
        "“little room left”, with what is free",
        "“空间不足”，并注明剩余空间",
    ),
    "help.means_room": (
        "Less than {low_share} % of the disk (never more than {low_gib} GiB, never less than "
        "{low_mib} MiB) is free, or less than {quota_share} % of the quota is left. Fetching stops "
        "when nothing is left.",
        "磁盘剩余不足 {low_share}%（不高于 {low_gib} GiB，不低于 {low_mib} MiB），或配额剩余不足 "
        "{quota_share}%。用完时停止抓取。",
    ),
    "help.way_room": (
        "The sign names the finished crawl whose raw pages free most: “Drop raw pages” beside it. "
        "Space has the others, and what other files take of the disk.",
        "该提示注明删除哪个已完成任务的原始页面可释放最多空间：点旁边的“删除原始页面”。“存储空间”列出"
        "其他任务以及其他文件占用的空间。",
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
        "Space says what takes the disk: ours, or other files, which only somebody on the machine "
        "can move away. Ours: “Drop raw pages” of a finished crawl; the page says how many bytes "
        "come free. Type its name, Confirm. Records stay; those pages cannot be cleaned again.",
        "“存储空间”说明磁盘被谁占用：本程序，或其他文件（只能在该机器上移走）。属于本程序的：对"
        "已完成的任务点“删除原始页面”，页面会说明可释放的字节数；输入任务名并确认。记录保留，但"
        "这些页面不能再重新清洗。",
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
        "“Forbid” beside the sign, Confirm. Waiting URLs of the class end as excluded; the sign "
        "goes. Reset, beside the class on the host's page, takes it back.",
        "在该提示旁点“禁止”，再“确认”。该类别等待中的网址以“已排除”结束，提示随之消失。主机页面"
        "上该类别旁的“重置”可撤回。",
    ),
    "help.see_silent": (
        "“process is silent”, with the process, since when, and what it holds",
        "“进程无响应”，并注明进程、起始时间和持有的页面",
    ),
    "help.means_silent": (
        "A worker or spider hangs, was stopped, or its machine is gone. When it was not heard for "
        "{silent_s} s the sign appears and its pages are given to others by themselves, but the "
        "crawl stays short of it. The sign stays until it is heard again or declared dead, six "
        "hours at most.",
        "工作进程或爬虫卡住、被停止或机器掉线。{silent_s} 秒没有响应时出现该提示，其页面自动交给其"
        "他进程，但抓取仍少一个进程。该提示一直保留，直到再次收到其消息或声明其已死，最长六小时。",
    ),
    "help.way_silent": (
        "“Declare dead” beside the sign, Confirm: others get its work at once, and a crawl of "
        "`run` kills it and starts another; the result names the new one. Late results of it are "
        "refused, so nothing counts twice. A process that a service started is ended on its "
        "machine.",
        "在该提示旁点“声明进程已死”并确认：其工作立即交给其他进程，run 启动的进程会被结束并启动新"
        "的，结果页注明新进程。迟到的结果会被拒绝，不会重复计数。由服务启动的进程须在其机器上结束。",
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
        "Nothing has to be done for the crawl. Follow the sign: each page has a kept copy, which "
        "is downloaded and sent to who maintains the program; where there is none, its address is "
        "sent. Then “Mark as seen”: the sign goes until there is another such page. Retry only "
        "after the program was mended, one page first: each may kill three workers again.",
        "抓取本身无需处理。点该提示：每个页面都有保留的副本，请下载并发给程序的维护者；没有副本的则发送"
        "其网址。然后“标记为已查看”，提示消失，直到再有这样的页面。程序修复后才可重试，先重试一个页面："
        "每个页面可能再次使三个工作进程崩溃。",
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

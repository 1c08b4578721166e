"""Words of the screen Now, with its sentence."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "now.title": ("Now", "当前状况"),
    "now.fetched": ("Fetched", "已抓取"),
    "now.stored": ("Records", "记录"),
    "now.failed": ("Failures", "失败"),
    "now.per_second": ("per second", "每秒"),
    "now.total": ("{n} so far", "累计 {n}"),
    "now.backlog": ("Waiting for workers", "等待处理"),
    "now.backlog_note": ("{size} of {most}", "{size}，上限 {most}"),
    "now.oldest_job": ("Oldest job", "最久的作业"),
    "now.jobs": ("{n} job waits", "{n} jobs wait", "{n} 个作业等待"),
    "now.leases": ("Being fetched", "正在抓取"),
    "now.oldest_lease": ("oldest {span}", "最久 {span}"),
    "now.claims": ("Being cleaned", "正在清洗"),
    "now.pending": ("URLs to fetch", "待抓取网址"),
    "now.ready": ("{n} host ready", "{n} hosts ready", "{n} 个主机就绪"),
    "now.memory": ("Queue memory", "队列内存"),
    "now.of": ("of {most}", "上限 {most}"),
    "now.no_limit": ("no limit", "无上限"),
    "now.disk": ("Free disk", "磁盘剩余"),
    "now.full_in": ("full {when}", "{when}将满"),
    "now.alive": ("Processes", "进程"),
    "now.spiders": ("{n} spider", "{n} spiders", "{n} 个爬虫"),
    "now.workers": ("{n} worker", "{n} workers", "{n} 个工作进程"),
    "now.paused_hosts": ("Paused hosts", "已暂停主机"),
    "now.stopped_classes": ("{n} trap stopped", "{n} traps stopped", "{n} 个陷阱已停止"),
    "now.crawls": ("Crawls", "抓取任务"),
    "now.causes": ("Failures by cause", "失败原因"),
    "now.waits": ("What hosts wait for", "主机在等待什么"),
    "now.examined": (
        "of {n} examined host",
        "of {n} examined hosts",
        "抽查 {n} 个主机",
    ),
    "now.charts": ("Over time", "变化趋势"),
    "now.hour": ("hour", "一小时"),
    "now.day": ("day", "一天"),
    "now.month": ("month", "一个月"),
    "now.yesterday": ("a day earlier", "前一天"),
    "now.no_samples": (
        "Figures are kept once a minute while a crawl runs; none was kept in this time.",
        "抓取运行时每分钟记录一次数字；这段时间没有记录。",
    ),
    "now.chart_fetched": ("Pages per second", "每秒页数"),
    "now.chart_backlog": ("Pages that wait for workers", "等待处理的页面"),
    "now.chart_oldest": ("Oldest job, seconds", "最久的作业（秒）"),
    "now.chart_pending": ("URLs to fetch", "待抓取的网址"),
    "now.chart_memory": ("Queue memory, MiB", "队列内存（MiB）"),
    "now.chart_disk": ("Free disk, GiB", "磁盘剩余（GiB）"),
    "holding.queue_away": (
        "The queue's server does not answer: nothing moves.",
        "队列服务器没有响应，一切停止。",
    ),
    "holding.server_away": (
        "Queue server {index} ({place}) does not answer: its hosts wait, and these figures are "
        "those of the others.",
        "队列服务器 {index}（{place}）没有响应：其主机在等待，这里的数字只含其他服务器。",
    ),
    "holding.store_away": (
        "The store does not answer: no page can be saved.",
        "存储没有响应，页面无法保存。",
    ),
    "holding.damaged": (
        "The store's database is damaged: {why}",
        "存储的数据库已损坏：{why}",
    ),
    "holding.at_rest": ("No crawl is running.", "没有正在运行的抓取。"),
    "holding.no_crawl": ("There is no crawl yet.", "还没有任何抓取任务。"),
    "holding.starting": (
        "The crawl is starting: not all of its processes were heard yet.",
        "抓取正在启动：尚未收到所有进程的消息。",
    ),
    "holding.no_sweeper": (
        "The sweeper is not alive: nobody takes over the work of processes that die, and figures "
        "stand still. A crawl of `run` starts it again by itself; of services, start `sweeper`.",
        "清扫进程未运行：进程死亡后无人接手其工作，统计也不更新。run 启动的抓取会自动重启它；"
        "以服务运行时请启动 sweeper。",
    ),
    "holding.full_disk": (
        "The disk or the quota of the data folder is full: nothing is fetched.",
        "磁盘或数据目录配额已满，停止抓取。",
    ),
    "holding.full_memory": (
        "The memory of the queue is full: nothing is fetched until workers catch up.",
        "队列内存已满，处理完之前停止抓取。",
    ),
    "holding.no_spider": (
        "No spider is alive: {n} URL waits.",
        "No spider is alive: {n} URLs wait.",
        "没有存活的爬虫：{n} 个网址在等待。",
    ),
    "holding.no_worker": (
        "No worker is alive: {n} fetched page waits.",
        "No worker is alive: {n} fetched pages wait.",
        "没有存活的工作进程：{n} 个已抓取页面在等待。",
    ),
    "holding.no_sweeper_on": (
        "Queue server {index} ({place}) has no living sweeper: nobody takes over the work of "
        "processes that die there. Start one more `sweeper`.",
        "队列服务器 {index}（{place}）没有存活的清扫进程：该处进程死亡后无人接手其工作。"
        "请再启动一个 sweeper。",
    ),
    "holding.no_spider_on": (
        "Queue server {index} ({place}) has no living spider: its hosts wait. Start one more "
        "`spider`.",
        "队列服务器 {index}（{place}）没有存活的爬虫：其主机在等待。请再启动一个 spider。",
    ),
    "holding.no_worker_on": (
        "Queue server {index} ({place}) has no living worker: its fetched pages wait. Start one "
        "more `worker`.",
        "队列服务器 {index}（{place}）没有存活的工作进程：其已抓取页面在等待。"
        "请再启动一个 worker。",
    ),
    "holding.backlog": (
        "Workers are behind: {n} page waits, the oldest for {s} s; fetching pauses.",
        "Workers are behind: {n} pages wait, the oldest for {s} s; fetching pauses.",
        "处理跟不上：{n} 个页面在等待，最久 {s} 秒；抓取暂停。",
    ),
    "holding.behind": (
        "Workers are behind: the oldest job waits for {s} s.",
        "处理跟不上：最久的作业已等待 {s} 秒。",
    ),
    "holding.all_paused": ("Every crawl is paused.", "所有任务都已暂停。"),
    "holding.all_stopped": ("Every crawl is stopped.", "所有任务都已停止。"),
    "holding.all_finished": ("Every crawl is finished.", "所有任务都已完成。"),
    "holding.spent": (
        "Every running crawl has spent its page limit.",
        "所有运行中的任务都已用完页数上限。",
    ),
    "holding.waiting": (
        "{share} % of the hosts with work wait for {reason}.",
        "{share}% 的主机在等待：{reason}。",
    ),
    "holding.polite": (
        "Full speed: hosts are asked as often as their delay permits.",
        "全速运行：按主机间隔允许的频率抓取。",
    ),
    "holding.full_speed": ("Full speed: nothing holds the crawls back.", "全速运行，没有阻碍。"),
}

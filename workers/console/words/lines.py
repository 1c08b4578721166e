"""Lines that spider, worker and sweeper have stored, in English, and how Chinese pages word them.

The English of an entry is the line as it is stored; a page reads its values by the places of the
entry (``../told_lines.py``). Places have names of their own kinds: ``{n}`` is a whole number,
``{reason}`` a value that has words, ``{why}`` a line again, any other name a text.
"""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "line.killed": ("cleaning it killed {n} workers", "清洗它使 {n} 个工作进程崩溃"),
    "line.page_killed": (
        "{url}: cleaning it killed {n} workers",
        "{url}：清洗它使 {n} 个工作进程崩溃",
    ),
    "line.status": ("status {n}", "状态码 {n}"),
    "line.reads_gone": (
        "status {n}, but the page reads: {text}",
        "状态码 {n}，但页面内容写着：{text}",
    ),
    "line.no_location": (
        "status {n} without a usable Location",
        "状态码 {n}，没有可用的 Location",
    ),
    "line.many_hops": ("more than {n} redirects in a row", "连续重定向超过 {n} 次"),
    "line.no_image": ("its {n} bytes are not an image", "其 {n} 字节不是图片"),
    "line.empty": ("the response is empty", "响应为空"),
    "line.media_type": ("the response is {text}", "响应类型为 {text}"),
    "line.over_limit": ("the response is over the size limit", "响应超过大小上限"),
    "line.cut_short": ("the response was cut short", "响应不完整"),
    "line.private": (
        "{host} is a private or loopback address (allow it with --allow-private)",
        "{host} 是私有或本机地址（可用 --allow-private 允许）",
    ),
    "line.no_address": ("the name {host} has no address", "域名 {host} 没有地址"),
    "line.no_lookup": (
        "the name {host} could not be looked up",
        "域名 {host} 查询失败",
    ),
    "line.certificate": (
        "the certificate of {host} is refused: {text}",
        "拒绝 {host} 的证书：{text}",
    ),
    "line.port": (
        "port {port} is another service's: browsers refuse it, too",
        "端口 {port} 属于其他服务，浏览器也会拒绝",
    ),
    "line.long_away": ("the host has not answered for long", "主机长时间没有响应"),
    "line.no_status": ("{n} is no HTTP status", "{n} 不是 HTTP 状态码"),
    "line.excluded": ("excluded by --exclude {text}", "被 --exclude {text} 排除"),
    "line.not_included": ("no --include matches it: {text}", "不符合任何 --include：{text}"),
    "line.dropped": ("by the record step {text}", "由记录步骤 {text} 丢弃"),
    "line.reason": ("{reason}: {why}", "{reason}：{why}"),
    "line.fetched": ("{status}, {n} bytes, {ms} ms", "状态码 {status}，{n} 字节，{ms} 毫秒"),
    "line.cleaned": (
        "{page_kind}, body {n} characters by {body_source}, {links} links, {outlinks} outlinks, "
        "model {version}",
        "{page_kind}，正文 {n} 个字符（{body_source}），{links} 个链接，{outlinks} 个待跟踪链接，"
        "模型版本 {version}",
    ),
    "line.cleaned_with": (
        "{page_kind}, body {n} characters by {body_source}, {links} links, {outlinks} outlinks, "
        "model {version}, warnings: {warnings}",
        "{page_kind}，正文 {n} 个字符（{body_source}），{links} 个链接，{outlinks} 个待跟踪链接，"
        "模型版本 {version}，警告：{warnings}",
    ),
    "line.cleaned_again": (
        "{page_kind}, body {n} characters, model {version}",
        "{page_kind}，正文 {n} 个字符，模型版本 {version}",
    ),
    "line.attempt": ("attempt {n}", "第 {n} 次尝试"),
    "line.spider_died": ("the spider died", "爬虫进程终止"),
    "line.worker_died": ("the worker died", "工作进程终止"),
    "line.died_on_page": (
        "the worker died on this page",
        "工作进程在此页面上终止",
    ),
    "line.not_heard": ("the spider did not hear of it", "爬虫没有收到它"),
    "line.address_taken": (
        "its address is being asked by another host name",
        "其地址正由另一个主机名抓取",
    ),
    "line.held": ("the crawl {text} fetches the page", "任务 {text} 正在抓取此页面"),
    "line.not_changed": (
        "the server has the version that is stored",
        "服务器上的版本与已存储的相同",
    ),
    "line.feed": ("a feed of {n} entries", "含 {n} 条的订阅源"),
    "line.sitemap": ("{n} pages, {m} sitemaps", "{n} 个页面，{m} 个站点地图"),
    "line.leases_lost": (
        "leases of dead spiders given to others: {n}",
        "已终止的爬虫的 {n} 个网址已交给其他爬虫",
    ),
    "line.claims_lost": (
        "jobs of dead workers given to others: {n}",
        "已终止的工作进程的 {n} 个作业已交给其他进程",
    ),
    "line.not_learned": ("not learned, its jobs died", "未能学习：其作业反复终止"),
    "line.silent": ("{role} {text} is not heard any more", "{role} {text} 不再有响应"),
    "line.store_away": ("the store was away for {n} s", "存储曾有 {n} 秒不可用"),
    "line.queue_away": ("the queue was away for {n} s", "队列曾有 {n} 秒不可用"),
    "line.other_queue": (
        "stopped in the queue {text}: the queue {other} runs it",
        "已在队列 {text} 中停止：由队列 {other} 运行",
    ),
    "line.taken_over": (
        "taken over by the queue {text}, was run by the queue {other}",
        "由队列 {text} 接管，此前由队列 {other} 运行",
    ),
    "line.rebuilt": (
        "rebuilt from the store: {n} URLs had ended, {m} wait",
        "已从存储重建：{n} 个网址已结束，{m} 个等待",
    ),
    "line.stopped": (
        "{text} brought nothing new for long: {n} of {m} pages did",
        "{text} 长期没有新内容：{m} 个页面中仅 {n} 个有",
    ),
    "line.no_news": (
        "brought nothing new for long: {n} of {m} pages did",
        "长期没有新内容：{m} 个页面中仅 {n} 个有",
    ),
    "line.by_operator": ("forbidden by an operator", "由操作员禁止"),
    "line.leads_to": (
        "leads to {url_kind} pages, as {n} pages show",
        "由 {n} 个页面可见，通向的是{url_kind}",
    ),
    "line.urls_lead_to": (
        "leads to {url_kind} pages, as {n} URLs show",
        "由 {n} 个网址可见，通向的是{url_kind}",
    ),
    "line.class_leads_to": (
        "{text}: leads to {url_kind} pages, as {n} pages show",
        "{text}：由 {n} 个页面可见，通向的是{url_kind}",
    ),
    "line.paused_why": ("paused by {who}: {text}", "由 {who} 暂停：{text}"),
    "line.paused_by": ("paused by {who}", "由 {who} 暂停"),
    "line.paused_for": ("paused: {text}", "暂停：{text}"),
    "line.paused": ("paused", "已暂停"),
    "line.resumed_by": ("resumed by {who}", "由 {who} 恢复"),
    "line.resumed": ("resumed", "已恢复"),
    "line.new_crawl_why": (
        "{state}, new, by {who}: {why}",
        "{state}（新任务），由 {who}：{why}",
    ),
    "line.new_crawl_by": ("{state}, new, by {who}", "{state}（新任务），由 {who}"),
    "line.new_crawl": ("{state}, new", "{state}（新任务）"),
    "line.crawl_why": (
        "{state}, was {before}, by {who}: {why}",
        "{state}，此前{before}，由 {who}：{why}",
    ),
    "line.crawl_by": ("{state}, was {before}, by {who}", "{state}，此前{before}，由 {who}"),
    "line.crawl": ("{state}, was {before}", "{state}，此前{before}"),
    "line.change_version": (
        "{sign}: {outcome} version {version}",
        "{sign}：{outcome}，即版本 {version}",
    ),
    "line.change_why": ("{sign}: {outcome} ({why})", "{sign}：{outcome}（{why}）"),
    "line.change": ("{sign}: {outcome}", "{sign}：{outcome}"),
    "line.model": (
        "version {version} of its model, from {n} pages ({why})",
        "模型版本 {version}，来自 {n} 个页面（{why}）",
    ),
    "line.since": ("{sign} since {time}", "{sign}，始于 {time}"),
    "line.class_since": ("{sign} of {text} since {time}", "{text} 的{sign}，始于 {time}"),
    "line.learned_why": ("{learned}: {why}", "{learned}：{why}"),
    "line.learned": ("{learned}", "原因：{learned}"),
    "line.back_to": ("to version {version}", "回到版本 {version}"),
    "line.days_old": ("{n} days old, {m} records since", "已 {n} 天，此后 {m} 条记录"),
    "line.learned_later": (
        "will be learned after {n} more pages",
        "再有 {n} 个页面后学习",
    ),
    "line.archived": (
        "{n} pages since then are in the archive",
        "此后的页面中有 {n} 个已存档",
    ),
    "line.no_place": (
        "no place of bodies found on {n} pages since then",
        "此后的 {n} 个页面上找不到正文的位置",
    ),
    "line.same_model": (
        "the newer pages teach the same model",
        "由较新的页面学到的模型相同",
    ),
    "line.operation_died": (
        "the processes that did it died",
        "执行它的进程已终止",
    ),
    "line.wrong_charset": (
        "declared {text}, read as {encoding}",
        "声明为 {text}，按 {encoding} 读取",
    ),
    "line.kept_first": ("kept the first {n}", "只保留前 {n} 个"),
    "line.kept_chars": (
        "kept {n} characters of a link's text",
        "链接文字只保留 {n} 个字符",
    ),
    "line.read_chars": ("read {n} of {m} characters", "读取了 {m} 个字符中的 {n} 个"),
    "line.read_tags": (
        "read {tags} tags, {n} of {m} bytes",
        "读取了 {tags} 个标签，{m} 字节中的 {n} 字节",
    ),
    "line.attributes": ("tags with more than {n} attributes", "属性超过 {n} 个的标签"),
    "line.nested": ("tags nested deeper than {n}", "嵌套深度超过 {n} 的标签"),
    "line.long_base": ("a base of {n} characters is not used", "未使用 {n} 个字符的 base"),
    "line.words_outside": (
        "{n} words outside links, and no part of them is a body",
        "链接之外有 {n} 个词，但没有任何部分是正文",
    ),
    "line.asks_script": ("it asks for JavaScript", "页面要求启用 JavaScript"),
    "line.data_in": ("its data are in {text}", "数据在 {text} 中"),
    "line.in_scripts": (
        "{n} characters of text, {files} files and {m} characters of scripts",
        "{n} 个字符的文字，{files} 个脚本文件，{m} 个字符的脚本",
    ),
    "line.failed": ("failed {why}", "失败：{why}"),
    "line.left_out": ("excluded {why}", "已排除：{why}"),
    "line.no_case": ("there is no case {text}", "没有报告 {text}"),
    "line.no_operation": ("there is no operation {text}", "没有操作 {text}"),
    "line.no_action": (
        "there is no action {text} in the audit",
        "审计中没有操作 {text}",
    ),
    "line.no_crawl": ("no crawl is named {text}", "没有名为 {text} 的任务"),
    "line.no_topic": (
        "no topic is named {text}; topics: {names}",
        "没有名为 {text} 的主题；现有：{names}",
    ),
    "line.no_story": ("no story has the id {text}", "没有编号为 {text} 的报道"),
    "line.no_host": ("nothing of {host} is stored", "没有存储 {host} 的任何内容"),
    "line.no_page": ("no crawl has ended a page {text}", "没有任务处理过页面 {text}"),
    "line.none_failed": (
        "no URL of {host} has failed so in crawl {text}",
        "任务 {text} 中，{host} 没有这样失败的网址",
    ),
    "line.raw_gone": (
        "the raw page is gone (dropped, or never archived): the page cannot be cleaned again; "
        "fetch it again",
        "原始页面已不在（已删除或从未存档）：无法再次清洗，请重新抓取",
    ),
    "line.out_of_scope": ("out of the crawl's scope", "超出任务范围"),
    "line.too_deep": ("deeper than --depth {depth}", "深度超过 --depth {depth}"),
    "line.forbidden": ("robots.txt forbids it", "robots.txt 禁止"),
    "line.same_page": (
        "another URL of a page that was fetched",
        "是已抓取页面的另一个网址",
    ),
    "line.too_long": ("longer than 4,096 characters", "超过 4,096 个字符"),
    "line.folders_repeat": (
        "looks like a trap: its folders repeat",
        "像是陷阱：目录重复",
    ),
    "line.many_folders": (
        "looks like a trap: more than 20 folders",
        "像是陷阱：超过 20 层目录",
    ),
    "line.nested_address": (
        "looks like a trap: a parameter is nested in itself",
        "像是陷阱：参数嵌套自身",
    ),
    "line.many_parameters": (
        "looks like a trap: more than 30 parameters",
        "像是陷阱：超过 30 个参数",
    ),
    "line.of_class": (
        "of a URL class that is not fetched: {why}",
        "属于不抓取的网址类别：{why}",
    ),
    "line.import": (
        "an import fetches nothing, and no page of this URL was imported",
        "导入不抓取任何页面，也没有导入此网址的页面",
    ),
    "line.link_filter": ("refused by the link filter {text}", "被链接过滤器 {text} 拒绝"),
    "line.file": ("not followed: it names a file, not a page", "不跟踪：它是文件，不是页面"),
    "line.seed": ("it is a seed that was not fetched yet", "是尚未抓取的种子"),
    "line.not_linked": ("no cleaned page links to it", "没有清洗过的页面链接到它"),
    "line.not_linked_of": (
        "no cleaned page (of the {n} searched) links to it",
        "查找的 {n} 个清洗过的页面中没有链接到它的",
    ),
    "line.was_queued": (
        "it was queued, and is neither in the queue nor in the store",
        "它曾进入队列，但既不在队列也不在存储中",
    ),
    "line.other_form": ("links to it are followed as {url}", "指向它的链接按 {url} 跟踪"),
    "line.no_content_image": (
        "no cleaned page shows it as a content image "
        "(`model HOST --why URL` shows its kinds on pages)",
        "没有清洗过的页面把它作为内容图",
    ),
    "line.refused_before": (
        "a page links to it; when the page was cleaned, a rule refused it that holds no more "
        "(robots.txt, URL classes, --depth, --scope), or the page was re-cleaned since",
        "有页面链接到它；清洗该页面时某条规则（robots.txt、网址类别、--depth、--scope）拒绝了它，"
        "该规则现已失效，或此后该页面被重新清洗",
    ),
    "line.via": ("{via}", "通过{via}"),
}

"""Words of the console that an operator cannot know, each with what it means."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "glossary.title": ("Words of this console", "本控制台的用语"),
    "glossary.word": ("Word", "用语"),
    "glossary.crawl": ("crawl", "任务"),
    "meaning.crawl": (
        "What one order fetches: seeds, limits, and all URLs that were found from there.",
        "一次抓取：种子网址、限制，以及由此发现的所有网址。",
    ),
    "glossary.record": ("record", "记录"),
    "meaning.record": (
        "What was made of a page: title, body, posts, links and images, each of a kind.",
        "从页面得到的结果：标题、正文、帖子、链接和图片，各有类型。",
    ),
    "glossary.cleaning": ("cleaning", "清洗"),
    "meaning.cleaning": (
        "Making the record of a page, without navigation, advertising and the like.",
        "去除导航、广告等，生成页面的记录。",
    ),
    "glossary.raw": ("raw page, archived response", "原始页面、存档的响应"),
    "meaning.raw": (
        "The bytes as the host sent them, kept to be cleaned again.",
        "主机发来的原始字节，保存以便重新清洗。",
    ),
    "glossary.model": ("model of a host", "主机的模型"),
    "meaning.model": (
        "What was learned from pages of a host: where bodies stand, what repeats on all pages. "
        "It has versions.",
        "从主机的页面学到的内容：正文在哪里，哪些部分处处重复。模型有版本。",
    ),
    "glossary.changed": ("change of a site", "网站改版"),
    "meaning.changed": (
        "New pages no longer fit the model: another template, a login wall, an empty shell.",
        "新页面不再符合模型：换了模板、登录页或空壳。",
    ),
    "glossary.url_class": ("URL class", "网址类别"),
    "meaning.url_class": (
        "Addresses of one pattern, as /news/*: what is decided for one counts for all.",
        "同一形式的网址，如 /news/*：决定对整类有效。",
    ),
    "glossary.trap": ("trap, stopped class", "陷阱、停止的类别"),
    "meaning.trap": (
        "Addresses without end whose pages bring nothing new, as a calendar's: no more of them "
        "are fetched.",
        "无穷无尽而没有新内容的网址（如日历），不再抓取。",
    ),
    "glossary.poison": ("page that kills workers", "使进程崩溃的页面"),
    "meaning.poison": (
        "Processes died while they cleaned it; after three deaths it is set aside.",
        "清洗它时进程崩溃；三次之后搁置。",
    ),
    "glossary.spider": ("spider", "爬虫"),
    "meaning.spider": ("The process that fetches.", "负责抓取的进程。"),
    "glossary.worker": ("worker", "工作进程"),
    "meaning.worker": (
        "A process that cleans pages and learns hosts.",
        "清洗页面、学习主机的进程。",
    ),
    "glossary.sweeper": ("sweeper", "清扫进程"),
    "meaning.sweeper": (
        "The process that gives work of dead processes to others, and keeps the figures.",
        "把死亡进程的工作交给其他进程、并更新统计的进程。",
    ),
    "glossary.keeper": ("keeper", "更新进程"),
    "meaning.keeper": (
        "The process that orders the next visits of crawls that keep their pages fresh.",
        "为持续更新的任务安排下次访问的进程。",
    ),
    "glossary.sender": ("sender", "推送进程"),
    "meaning.sender": (
        "The process that tells receivers of new stories of a topic.",
        "把主题的新报道告知接收方的进程。",
    ),
    "glossary.job": ("job", "作业"),
    "meaning.job": (
        "Some pages of a host that one worker cleans together.",
        "由一个工作进程一起清洗的若干页面。",
    ),
    "glossary.topic": ("topic, story, reprint", "主题、报道、转载"),
    "meaning.topic": (
        "A topic keeps the pages that are about it. Pages that tell the same are one story; "
        "all but the first are reprints.",
        "主题只保留相关页面；内容相同的页面算一篇报道，首个之外的是转载。",
    ),
}

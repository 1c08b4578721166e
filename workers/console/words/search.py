"""Words of the screen of search."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "search.words": ("Words in titles and bodies", "标题和正文中的词语"),
    "search.from": ("Fetched from", "抓取时间从"),
    "search.to": ("Fetched before", "抓取时间至"),
    "search.off": (
        "Search by words is off. The setting {setting} indexes the texts of records.",
        "全文搜索未开启。设置 {setting} 后会为记录的正文建立索引。",
    ),
    "search.behind": (
        "{n} newer save is not indexed yet.",
        "{n} newer saves are not indexed yet.",
        "还有 {n} 次较新的保存未建立索引。",
    ),
    "search.late": (
        "The search took too long, and ended early: give a rarer word.",
        "搜索用时过长，已提前结束：请换一个更少见的词。",
    ),
    "search.none": ("No record has these words.", "没有包含这些词语的记录。"),
    "search.hosts": ("Hosts of a name like this", "名称相近的主机"),
}

"""Words of the versions of a page."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "versions.title": ("Versions of a page", "页面的版本"),
    "versions.of_page": ("Versions", "版本"),
    "versions.since": ("Shown since", "显示始于"),
    "versions.title_then": ("Title then", "当时的标题"),
    "versions.body": ("Characters", "正文字数"),
    "versions.added": ("Lines added", "新增行"),
    "versions.removed": ("Lines removed", "删除行"),
    "versions.model": ("Model", "模型"),
    "versions.newest": ("newest", "最新"),
    "versions.older": ("Older", "较旧"),
    "versions.newer": ("Newer", "较新"),
    "versions.compare": ("Compare these two", "比较这两个版本"),
    "versions.checked": ("Found unchanged until", "最近确认未变"),
    "versions.one": (
        "There is one version: no later visit found other content. Only crawls that keep fresh "
        "visit again.",
        "只有一个版本：之后的访问没有发现变化。只有持续更新的任务会再次访问。",
    ),
    "versions.difference": ("Difference", "差别"),
    "versions.left_out": ("{n} equal line", "{n} equal lines", "{n} 行相同"),
    "versions.more": ("{n} more line", "{n} more lines", "另有 {n} 行"),
}

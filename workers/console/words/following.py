"""Words of what an action has led to: long actions, pages that were tried, what comes next."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "follow.next": ("What is left to do here", "此处还需要做什么"),
    "follow.nothing_left": (
        "Nothing: no sign of this host stands on Now.",
        "没有：“当前状况”上没有该主机的提示。",
    ),
    "follow.no_silent": ("Nothing: every process is heard.", "没有：所有进程都有响应。"),
    "follow.replace_asked": (
        "Its work is given to others. The `run` that started it is asked to kill it and to start "
        "another one.",
        "其工作已交给其他进程。已要求启动它的 run 结束它并启动新的进程。",
    ),
    "follow.replace_killed": (
        "Its work is given to others; its `run` has killed it. Another one starts in its place.",
        "其工作已交给其他进程；run 已结束它，正在启动新的进程。",
    ),
    "follow.replace_started": (
        "Its work is given to others; its `run` has killed it, and started in its place:",
        "其工作已交给其他进程；run 已结束它，并启动了新的进程：",
    ),
    "follow.replace_not_ours": (
        "Its work is given to others. No `run` has started it: end it on its machine; the service "
        "that started it starts another one.",
        "其工作已交给其他进程。它不是由 run 启动的：请在其机器上结束它，由启动它的服务重新启动。",
    ),
    "follow.see": ("No. {n}: progress, Stop", "第 {n} 号：进度、停止"),
    "follow.waiting": ("It waits for a worker.", "正在等待工作进程。"),
    "follow.waiting_of": (
        "It waits for a worker: {done} of {total}.",
        "正在等待工作进程：{done} / {total}。",
    ),
    "follow.running": ("A worker does it: {done} so far.", "工作进程正在执行：已完成 {done}。"),
    "follow.running_of": (
        "A worker does it: {done} of {total}.",
        "工作进程正在执行：{done} / {total}。",
    ),
    "follow.done": ("A worker has done it: {done}.", "工作进程已完成：{done}。"),
    "follow.stopped": ("It was stopped after {done}.", "已停止，停止前完成 {done}。"),
    "follow.failed": ("It failed after {done}:", "失败，失败前完成 {done}："),
    "follow.reclean": (
        "Re-clean {n} record",
        "Re-clean {n} records",
        "重新清洗 {n} 条记录",
    ),
    "trial.waits": ("waits for its turn", "等待轮到它"),
    "trial.fetching": ("being fetched", "抓取中"),
    "trial.cleaning": ("being cleaned", "清洗中"),
    "trial.ended": ("answered", "已响应"),
    "trial.no_answer": ("no answer", "没有响应"),
    "trial.unknown": ("not known any more", "已无记录"),
    "trial.for": ("for {span} so far", "已等 {span}"),
    "trial.took": ("took {span}", "用时 {span}"),
    "trial.status": ("HTTP status", "HTTP 状态"),
    "trial.bytes": ("Response", "响应大小"),
    "trial.why_not": ("Why not", "原因说明"),
    "trial.kind": ("Kind of page", "页面类型"),
    "trial.title": ("Its title", "页面标题"),
    "trial.body_chars": ("Characters of its body", "正文字数"),
    "trial.good": (
        "The page has a body: the host answers as it should. Resume it if it is paused, then "
        "fetch again what had none.",
        "页面有正文：主机恢复正常。如果主机已暂停，请先恢复，然后重新抓取没有正文的页面。",
    ),
    "trial.no_body": (
        "The page still has no body: leave the host paused, and try again later.",
        "页面仍没有正文：请保持暂停，稍后再试。",
    ),
    "trial.moved": (
        "It leads elsewhere: a login page, or a new address.",
        "页面跳转到别处：可能是登录页或新地址。",
    ),
    "trial.old_record": (
        "It brought nothing newer than the record that is stored.",
        "没有比已存记录更新的内容。",
    ),
    "trial.nothing": (
        "Nothing came that could be stored. The page waits with the others of its host.",
        "没有可存储的内容。该页面与主机的其他页面一起等待。",
    ),
    "trial.see": ("See the page", "查看该页面"),
}

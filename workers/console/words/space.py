"""Words of the screen of space."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "space.title": ("Space", "存储空间"),
    "space.free": ("Free on the disk", "磁盘剩余"),
    "space.used": ("The data folder takes", "数据目录占用"),
    "space.of_quota": ("of a quota of {most}", "配额 {most}"),
    "space.others": ("Other files take", "其他文件占用"),
    "space.disk": ("The disk", "磁盘"),
    "space.others_lead": (
        "Other files are not of this program: the console neither reads nor deletes them. On the "
        "machine this command names the largest:",
        "其他文件不属于本程序，控制台既不读取也不删除。在该机器上用此命令列出最大的：",
    ),
    "space.folder": ("The data folder", "数据目录"),
    "space.in_mib": ("Sizes in MiB", "大小（MiB）"),
    "space.crawls": ("Crawls, the largest first", "任务，最大的在前"),
    "space.responses": ("Responses", "响应数"),
    "space.raw": ("Archived responses", "存档的响应"),
    "space.records": ("Clean records", "清洗后的记录"),
    "space.hosts": ("Hosts, most fetched first", "主机，抓取最多的在前"),
    "space.fetched": ("Fetched, decoded", "抓取（解码后）"),
    "space.images": ("Images", "图片数"),
    "space.store": ("store", "存储文件"),
    "space.queue": ("queue", "队列"),
    "space.logs": ("logs", "日志"),
    "space.other": ("other", "其他"),
}

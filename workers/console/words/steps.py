"""Words of the steps of a page on its way, and of its state there: ``step.<value>``."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "step.discovered": ("found", "发现"),
    "step.pending": ("waits to be fetched", "等待抓取"),
    "step.offered again": ("to be fetched again", "将重新抓取"),
    "step.to be tried": ("to be tried alone", "将单独试抓"),
    "step.leased": ("given to a spider", "交给爬虫"),
    "step.lease_lost": ("taken back from a spider", "从爬虫收回"),
    "step.given_back": ("put back", "放回队列"),
    "step.held": ("waits for another crawl", "等待其他任务"),
    "step.elsewhere": ("not reached from one machine", "某台机器无法连接"),
    "step.away": ("host not reached", "主机无法连接"),
    "step.fetched": ("fetched", "抓取完成"),
    "step.queued": ("waits for a worker", "等待清洗"),
    "step.claimed": ("given to a worker", "交给工作进程"),
    "step.claim_lost": ("taken back from a worker", "从工作进程收回"),
    "step.cleaned": ("cleaned", "清洗完成"),
    "step.re-cleaned": ("cleaned again", "再次清洗"),
    "step.kept": ("image kept", "图片已保存"),
    "step.read": ("list of addresses read", "网址列表已读取"),
    "step.unchanged": ("not changed since the last visit", "上次访问后未变"),
    "step.redirects to": ("redirects to", "重定向到"),
    "step.missed": ("visit without a result", "访问无结果"),
    "step.gave_up": ("given up", "放弃"),
    "step.ended": ("ended", "结束"),
    "step.due again": ("due again", "再次到期"),
    "step.imported": ("imported", "导入"),
    "step.stored": ("stored", "已存储"),
    "step.record": ("has a record", "有记录"),
    "step.redirect": ("is a redirect", "是重定向"),
    "step.sitemap": ("is a sitemap or feed", "是站点地图或订阅源"),
    "step.image": ("is an image", "是图片"),
    "step.excluded": ("left out", "已排除"),
    "step.failed": ("failed", "失败"),
}

"""A small site whose pages are stored as a worker stores them, for tests of learning."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import Provenance, Via
from crawlclean.cleaning.urls.normal_form import host_of, normalize, page_id
from crawlclean.storage.crawl_types import FetchResult, KeepRaw, QueuedPage
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs.outcomes import end_page, with_stored_step
from crawlclean.workers.site_models import SiteModels

HOST = "www.example.com"
T0 = datetime(2026, 3, 1, 12, tzinfo=UTC)
SENTENCE = "第{n}条渔船昨夜回到港口，船上的人说那边的风浪比往年大得多，{n}个人一夜没有合眼。"


def article_url(n: int, host: str = HOST) -> str:
    return f"http://{host}/news/{n}.html"


def article_html(n: int) -> bytes:
    text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(4))
    return f"""<title>渔港见闻之{n * 7}_海边小站</title>
        <div class=top><a href=/>首页</a><a href=/news/>新闻</a><a href=/about.html>我们</a></div>
        <div class=article id=a{n}><h2>前言</h2>{text}
        <p><img src=/photo/{n}.jpg></p>
        <div class=share><span>分享到：</span><a href=/share>微博</a> <a href=/s2>空间</a></div>
        </div><div class=foot>海边小站版权所有，未经允许不得转载本站的任何内容。
        <img src=/img/foot.png></div>""".encode()


def album_html(n: int) -> bytes:
    """An article whose picture stands before a list: only other pages show that it is of it."""
    tags = "".join(f"<li><a href=/m/{i}.html>栏目{i}</a></li>" for i in range(12))
    text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(4))
    return f"""<title>渔港见闻之{n * 7}_海边小站</title>
        <div class=top><a href=/>首页</a><a href=/news/>新闻</a><a href=/about.html>我们</a></div>
        <div class=article id=a{n}><div><img src=/photo/{n}.png></div><ul>{tags}</ul>{text}</div>
        <div class=foot>海边小站版权所有<img src=/img/foot.png></div>""".encode()


def redesigned_html(n: int) -> bytes:
    """The same article after a redesign: other containers with other names, other buttons."""
    text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(4))
    return f"""<title>海边小站 | 渔港见闻之{n * 7}</title>
        <div class=page><header class=bar><a href=/>主页</a><a href=/hot/>热点</a></header>
        <main class=story><section class=text><h2>前言</h2>{text}</section>
        <div class=tip><span>赞赏作者</span><a href=/tip>一元</a><a href=/t5>五元</a></div></main>
        <footer class=end>海边小站，始于一九九八年，渔港路一号。</footer></div>""".encode()


def fetched(n: int, *, crawl_id: str = "c1", host: str = HOST, after_s: float = 0) -> QueuedPage:
    """Article ``n`` as a worker claims it."""
    url = normalize(article_url(n, host))
    return QueuedPage(
        crawl_id=crawl_id,
        page_id=page_id(url),
        token=1,
        url=url,
        host=host_of(url),
        depth=1,
        provenance=Provenance(crawl_id=crawl_id, referrer=f"http://{host}/", via=Via.LINK),
        fetched_at=T0 + timedelta(seconds=n + after_s),
        result=FetchResult(
            status=200,
            headers=(("Content-Type", "text/html; charset=utf-8"), ("ETag", f'"{n}"')),
            body=article_html(n),
            elapsed_ms=5,
        ),
    )


def store_pages(
    store: Store,
    pages: Sequence[QueuedPage],
    model: SiteModel | None = None,
    keep_raw: KeepRaw = KeepRaw.ALL,
) -> None:
    """Stores pages as a worker does."""
    store.save([with_stored_step(end_page(page, keep_raw, model).outcome) for page in pages])


def store_site(store: Store, count: int = 8, keep_raw: KeepRaw = KeepRaw.ALL) -> None:
    """Articles 1 to ``count`` of crawl c1, cleaned without a model."""
    store_pages(store, [fetched(n) for n in range(1, count + 1)], keep_raw=keep_raw)


def current(models: SiteModels, store: Store, host: str) -> SiteModel | None:
    """The model in use."""
    return models.version(host, store.models.newest(host))

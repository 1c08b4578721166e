"""The peers of ``page.py`` and our own extractors, run in an environment that has both.

``answers PAGES OUT``: every tool reads every page, tools in turn within each page (so that a busy
machine is busy for all), with its processor time; a bare lxml parse is one of them.
``memory PAGES TOOL``: how far one tool alone raises the peak memory over all pages.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Extract = Callable[[str, str, str], str]  # (source, URL, language) -> text
ROUNDS = 2  # of the quick tools; the quickest counts


def bare_parse() -> Extract:
    """What every tool's time is a multiple of."""
    from lxml import etree

    def extract(html: str, _url: str, _lang: str) -> str:
        etree.fromstring(html.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8"))
        return ""

    return extract


def ours_record() -> Extract:
    """The whole record: body, links, images, outlinks, metadata."""
    from datetime import UTC, datetime

    from cleaning import RawPage, clean
    from cleaning.source.urls import host_of

    def extract(html: str, url: str, _lang: str) -> str:
        page = RawPage(
            url=url,
            host=host_of(url),
            fetched_at=datetime.fromtimestamp(0, UTC),
            html=html,
            encoding="utf-8",
        )
        return clean(page).body

    return extract


def ours_body() -> Extract:
    """The default body alone."""
    from cleaning.extract.body import extract_body
    from cleaning.source.tree import parse

    return lambda html, url, _lang: extract_body(parse(html), url).text


def ours_paper() -> Extract:
    """Ren and Liu 2010, the paper's form."""
    from cleaning.papers.hyperlink_body import hyperlink_body

    return lambda html, _url, _lang: hyperlink_body(html).text


def trafilatura() -> Extract:
    """Its defaults."""
    import trafilatura as tool

    return lambda html, url, _lang: tool.extract(html, url=url) or ""


def readability() -> Extract:
    """readability-lxml; the text of the summary it gives."""
    import readability as tool
    from lxml import html as lxml_html

    def extract(html: str, url: str, _lang: str) -> str:
        summary = tool.Document(html, url=url).summary(html_partial=True)
        return "\n".join(lxml_html.fromstring(summary).itertext())

    return extract


def justext() -> Extract:
    """With the stop words of English; without any, as documented, for other languages."""
    import justext as tool

    english = tool.get_stoplist("English")

    def extract(html: str, _url: str, lang: str) -> str:
        source = html.encode("utf-8", "replace")
        if lang == "zh":
            found = tool.justext(
                source, frozenset(), stopwords_low=0, stopwords_high=0, encoding="utf-8"
            )
        else:
            found = tool.justext(source, english, encoding="utf-8")
        return "\n".join(p.text for p in found if not p.is_boilerplate)

    return extract


def resiliparse() -> Extract:
    """Main content as plain text."""
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html, _url, _lang: extract_plain_text(html, main_content=True)


def gne() -> Extract:
    """GeneralNewsExtractor."""
    from gne import GeneralNewsExtractor

    tool = GeneralNewsExtractor()
    return lambda html, _url, _lang: tool.extract(html).get("content", "")


def newspaper() -> Extract:
    """newspaper4k, which is not to fetch pictures."""
    import newspaper as tool

    def extract(html: str, url: str, lang: str) -> str:
        article = tool.Article(url, language="zh" if lang == "zh" else "en", fetch_images=False)
        article.download(input_html=html)
        article.parse()
        return article.text or ""

    return extract


def goose() -> Extract:
    """goose3, with its Chinese stop words for Chinese."""
    from goose3 import Goose
    from goose3.text import StopWordsChinese

    chinese = Goose({"enable_image_fetching": False, "stopwords_class": StopWordsChinese})
    others = Goose({"enable_image_fetching": False})

    def extract(html: str, _url: str, lang: str) -> str:
        tool = chinese if lang == "zh" else others
        return tool.extract(raw_html=html).cleaned_text or ""

    return extract


def boilerpy() -> Extract:
    """boilerpy3's article extractor."""
    from boilerpy3 import extractors

    tool = extractors.ArticleExtractor(raise_on_failure=False)
    return lambda html, _url, _lang: tool.get_content(html)


TOOLS: dict[str, tuple[Callable[[], Extract], bool]] = {  # (maker, whether it is quick)
    "bare parse": (bare_parse, True),
    "ours, record": (ours_record, True),
    "ours, body": (ours_body, True),
    "ours, paper form": (ours_paper, True),
    "resiliparse": (resiliparse, True),
    "justext": (justext, False),
    "trafilatura": (trafilatura, False),
    "readability-lxml": (readability, False),
    "gne": (gne, False),
    "boilerpy3": (boilerpy, False),
    "newspaper4k": (newspaper, False),
    "goose3": (goose, False),
}


def pages_of(path: Path) -> Iterator[dict[str, Any]]:
    """The pages that were written down for the peers, one a line."""
    with path.open(encoding="utf-8", errors="surrogatepass") as lines:
        for line in lines:
            yield json.loads(line)


def timed(extract: Extract, page: dict[str, Any]) -> tuple[str, float]:
    """(text, processor seconds) of one tool on one page; a tool that fails has no text."""
    begun = time.process_time()
    try:
        text = extract(page["html"], page["url"], page["lang"])
    except Exception:  # whatever a peer raises is its answer
        text = ""
    return text or "", time.process_time() - begun


def answers(source: Path, target: Path) -> None:
    """Every tool on every page; one line a page."""
    tools = {name: (make(), quick) for name, (make, quick) in TOOLS.items()}
    names = list(tools)
    with target.open("w", encoding="utf-8", errors="surrogatepass") as out:
        for number, page in enumerate(pages_of(source)):
            result: dict[str, tuple[str, float]] = {}
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:
                extract, quick = tools[name]
                tries = [timed(extract, page) for _ in range(ROUNDS if quick else 1)]
                result[name] = tries[0][0], min(cpu for _, cpu in tries)
            out.write(json.dumps({"id": page["id"], "answers": result}) + "\n")


def memory(source: Path, name: str) -> float:
    """MB by which one tool raises the peak above its import, pages read one by one included."""
    extract = TOOLS[name][0]()
    before = peak_kb()
    for page in pages_of(source):
        timed(extract, page)
    return (peak_kb() - before) / 1024


def peak_kb() -> int:
    """Peak memory of this process; Linux gives a program its parent's in ``ru_maxrss``."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = status.read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def versions() -> dict[str, str]:
    """The versions of the peers."""
    packages = ("lxml", "trafilatura", "readability-lxml", "justext", "resiliparse", "gne",
                "newspaper4k", "goose3", "boilerpy3")  # fmt: skip
    metadata = importlib.import_module("importlib.metadata")
    return {name: metadata.version(name) for name in packages}


if __name__ == "__main__":
    if sys.argv[1] == "answers":
        answers(Path(sys.argv[2]), Path(sys.argv[3]))
        sys.stdout.write(json.dumps(versions()) + "\n")
    else:
        sys.stdout.write(json.dumps(memory(Path(sys.argv[2]), sys.argv[3])) + "\n")

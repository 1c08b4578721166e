"""The peers of ``page.py`` and our extractors, run in an environment that has both.

- ``answers PAGES TARGET``: the missing answers of each page, one JSON line a page.
- ``cost PAGES``: CPU time of every tool, a bare lxml parse among them, in turn within each page, so
  that a busy machine is busy for all.
- ``memory PAGES TOOL``: peak memory of a tool above its memory after import.
- ``versions``: versions of the peers.

PAGES is a folder; its ``index.json`` lists the files with URL, language and missing tools.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

Extract = Callable[[str, str, str], str]  # (source, URL, language) -> text
ROUNDS = 2  # of the quick tools; the quickest round counts


def bare_parse() -> Extract:
    """A bare lxml parse, the unit of all CPU times."""
    from lxml import etree

    def extract(html: str, _url: str, _lang: str) -> str:
        etree.fromstring(html.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8"))
        return ""

    return extract


def ours_record() -> Extract:
    """The whole record: body, links, images, outlinks, metadata."""
    from datetime import UTC, datetime

    from crawlclean import RawPage, clean
    from crawlclean.cleaning.urls.normal_form import host_of

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
    """Our default body alone."""
    from crawlclean.cleaning.body.page_body import extract_body
    from crawlclean.cleaning.document.reader import parse

    return lambda html, url, _lang: extract_body(parse(html), url).text


def paper_2() -> Extract:
    """Paper 2 (Ren and Liu 2010) as published."""
    from crawlclean.cleaning.papers.hyperlink_body import hyperlink_body

    return lambda html, _url, _lang: hyperlink_body(html).text


def paper_4_text() -> Extract:
    """The text outside logical link blocks, by text distance (paper 4, chapter 5)."""
    from crawlclean.cleaning.papers.link_blocks import text_outside

    return lambda html, _url, _lang: text_outside(html)


def paper_4_code() -> Extract:
    """The text outside logical link blocks, by code distance."""
    from crawlclean.cleaning.papers.link_blocks import Distance, Params, text_outside

    params = Params(distance=Distance.CODE)
    return lambda html, _url, _lang: text_outside(html, params)


def trafilatura() -> Extract:
    """trafilatura with its defaults."""
    import trafilatura as tool

    return lambda html, url, _lang: tool.extract(html, url=url) or ""


def readability() -> Extract:
    """readability-lxml: the text of its summary."""
    import readability as tool
    from lxml import html as lxml_html

    def extract(html: str, url: str, _lang: str) -> str:
        summary = tool.Document(html, url=url).summary(html_partial=True)
        return "\n".join(lxml_html.fromstring(summary).itertext())

    return extract


def justext() -> Extract:
    """jusText with English stop words; without stop words, as documented, for other languages."""
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
    """Resiliparse: main content as plain text."""
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html, _url, _lang: extract_plain_text(html, main_content=True)


def gne() -> Extract:
    """GeneralNewsExtractor."""
    from gne import GeneralNewsExtractor

    tool = GeneralNewsExtractor()
    return lambda html, _url, _lang: tool.extract(html).get("content", "")


def newspaper() -> Extract:
    """newspaper4k without fetching pictures."""
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


OURS: dict[str, Callable[[], Extract]] = {
    "ours, record": ours_record,
    "ours, body": ours_body,
    "paper 2, hyperlinks": paper_2,
    "paper 4, outside text blocks": paper_4_text,
    "paper 4, outside code blocks": paper_4_code,
}
PEERS: dict[str, Callable[[], Extract]] = {  # by the name of their package
    "resiliparse": resiliparse,
    "justext": justext,
    "trafilatura": trafilatura,
    "readability-lxml": readability,
    "gne": gne,
    "boilerpy3": boilerpy,
    "newspaper4k": newspaper,
    "goose3": goose,
}
BARE = "bare parse"
TOOLS = {BARE: bare_parse, **OURS, **PEERS}
QUICK = frozenset((BARE, *OURS, "resiliparse"))


def pages_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Yields the pages of a PAGES folder with their HTML."""
    for page in json.loads((folder / "index.json").read_text("utf-8")):
        yield {**page, "html": (folder / page["file"]).read_text("utf-8")}


def timed(extract: Extract, page: dict[str, Any]) -> tuple[str, float]:
    """Returns (text, CPU seconds) of a tool on a page; a tool that fails gives no text."""
    begun = time.process_time()
    try:
        text = extract(page["html"], page["url"], page["lang"])
    except Exception:  # a failing peer has no text
        text = ""
    return text or "", time.process_time() - begun


def answers(folder: Path, target: Path) -> None:
    """Writes the missing answers, one line a page; prints a progress line for each page."""
    tools: dict[str, Extract] = {}
    with target.open("w", encoding="utf-8", errors="replace") as out:
        for page in pages_of(folder):
            found = {}
            for name in page["lacks"]:
                tools[name] = tools.get(name) or TOOLS[name]()
                found[name] = timed(tools[name], page)[0]
            out.write(json.dumps({"id": page["id"], "answers": found}) + "\n")
            print_progress()


def cost(folder: Path) -> dict[str, float]:
    """Returns the CPU seconds of every tool over all pages."""
    tools = {name: make() for name, make in TOOLS.items()}
    names = list(tools)
    spent_s = dict.fromkeys(names, 0.0)
    for number, page in enumerate(pages_of(folder)):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            rounds = ROUNDS if name in QUICK else 1
            spent_s[name] += min(timed(tools[name], page)[1] for _ in range(rounds))
        print_progress()
    return spent_s


def memory(folder: Path, name: str) -> float:
    """Returns the highest peak on one page above import, without the page's source, MB."""
    extract = TOOLS[name]()
    imported = memory_kb("VmRSS")
    highest = 0.0
    for page in pages_of(folder):
        with suppress(OSError):  # without this file the peak of the whole run counts
            Path("/proc/self/clear_refs").write_text("5", "ascii")
        timed(extract, page)
        peak = memory_kb("VmHWM") - imported - sys.getsizeof(page["html"]) / 1024
        highest = max(highest, peak)
    return highest / 1024


def memory_kb(field: str) -> int:
    """Returns memory of this process, KB: ``VmRSS`` now, ``VmHWM`` at its peak."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = status.read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def print_progress() -> None:
    """Prints one line for each page done, for the progress of ``peers.run``."""
    sys.stdout.write("page\n")
    sys.stdout.flush()


def versions() -> dict[str, str]:
    """Returns the versions of the peers and of lxml."""
    metadata = importlib.import_module("importlib.metadata")
    return {name: metadata.version(name) for name in ("lxml", *PEERS)}


def main() -> None:
    """Runs a command; the last line of output is its result as JSON."""
    command, *names = sys.argv[1:]
    result: Any = None
    if command == "answers":
        answers(Path(names[0]), Path(names[1]))
    elif command == "cost":
        result = cost(Path(names[0]))
    elif command == "memory":
        result = memory(Path(names[0]), names[1])
    else:
        result = versions()
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()

"""The peers of ``page.py`` and our own extractors, run in an environment that has both.

``answers PAGES TARGET``: the answer of every tool a page still lacks, one line a page.
``cost PAGES``: the processor time of every tool on every page, tools in turn within each page (so
that a busy machine is busy for all); a bare lxml parse is one of them.
``memory PAGES TOOL``: how far one tool raises the peak memory above what it takes to import it.

PAGES is a folder: ``index.json`` names the files with their URL, language and tools.
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
    from cleaning.urls.normal_form import host_of

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
    from cleaning.body.page_body import extract_body
    from cleaning.document.reader import parse

    return lambda html, url, _lang: extract_body(parse(html), url).text


def paper_2() -> Extract:
    """Ren and Liu 2010, the paper's form."""
    from cleaning.papers.hyperlink_body import hyperlink_body

    return lambda html, _url, _lang: hyperlink_body(html).text


def paper_4_text() -> Extract:
    """What lies outside the logical link blocks by text distance (chapter 5)."""
    from cleaning.papers.link_blocks import text_outside

    return lambda html, _url, _lang: text_outside(html)


def paper_4_code() -> Extract:
    """The same by code distance."""
    from cleaning.papers.link_blocks import Distance, Params, text_outside

    params = Params(distance=Distance.CODE)
    return lambda html, _url, _lang: text_outside(html, params)


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
    """The pages that were written down for the tools."""
    for page in json.loads((folder / "index.json").read_text("utf-8")):
        yield {**page, "html": (folder / page["file"]).read_text("utf-8")}


def timed(extract: Extract, page: dict[str, Any]) -> tuple[str, float]:
    """(text, processor seconds) of one tool on one page; a tool that fails has no text."""
    begun = time.process_time()
    try:
        text = extract(page["html"], page["url"], page["lang"])
    except Exception:  # whatever a peer raises is its answer
        text = ""
    return text or "", time.process_time() - begun


def answers(folder: Path, target: Path) -> None:
    """The answers the pages lack, one line a page; a line on standard output counts each."""
    tools: dict[str, Extract] = {}
    with target.open("w", encoding="utf-8", errors="replace") as out:
        for page in pages_of(folder):
            found = {}
            for name in page["lacks"]:
                tools[name] = tools.get(name) or TOOLS[name]()
                found[name] = timed(tools[name], page)[0]
            out.write(json.dumps({"id": page["id"], "answers": found}) + "\n")
            told()


def cost(folder: Path) -> dict[str, float]:
    """Processor seconds of every tool over all pages."""
    tools = {name: make() for name, make in TOOLS.items()}
    names = list(tools)
    spent_s = dict.fromkeys(names, 0.0)
    for number, page in enumerate(pages_of(folder)):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            rounds = ROUNDS if name in QUICK else 1
            spent_s[name] += min(timed(tools[name], page)[1] for _ in range(rounds))
        told()
    return spent_s


def memory(folder: Path, name: str) -> float:
    """MB of the highest peak over one page above import, the page's own source left out."""
    extract = TOOLS[name]()
    imported = memory_kb("VmRSS")
    highest = 0.0
    for page in pages_of(folder):
        with suppress(OSError):  # where there is none, the peak of the whole run counts
            Path("/proc/self/clear_refs").write_text("5", "ascii")
        timed(extract, page)
        peak = memory_kb("VmHWM") - imported - sys.getsizeof(page["html"]) / 1024
        highest = max(highest, peak)
    return highest / 1024


def memory_kb(field: str) -> int:
    """Memory of this process by Linux: VmRSS now, VmHWM at its peak."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = status.read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def told() -> None:
    """One page is done: a line for who waits."""
    sys.stdout.write("page\n")
    sys.stdout.flush()


def versions() -> dict[str, str]:
    """The versions of the peers, and of lxml."""
    metadata = importlib.import_module("importlib.metadata")
    return {name: metadata.version(name) for name in ("lxml", *PEERS)}


def main() -> None:
    """Runs the command that is named; the last line of output is the result as JSON."""
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

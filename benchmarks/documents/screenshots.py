"""The pictures of the console in README and docs: a real crawl of small sites, in two languages.

``make screenshots`` crawls sites that were written for the project, which a local server answers
for, looks at the console by Debian's Chromium, and writes ``docs/plots/console-NAME.png`` and
``console-NAME.zh.png``. Charts have a point a minute: ``make screenshots ARGS="--minutes 30"``.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from PIL import Image
from playwright.sync_api import Browser, FloatRect, sync_playwright

from benchmarks.documents.console_site import CHINESE, ENGLISH, OTHERS, site
from benchmarks.kit.results import ROOT
from crawlclean.cleaning.urls.normal_form import page_id
from tests.kit.crawls import start
from tests.kit.named_web import NamedWeb

FOLDER = ROOT / "docs" / "plots"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
COLOURS = 256
"""Of a picture's palette, the most frequent ones: areas and lines keep theirs, edges of letters get
the nearest."""

WIDTH, PHONE_WIDTH, MOST_HEIGHT = 1200, 390, 1500
MOST_BYTES = 150_000
CRAWL, PAUSED = "coast-news", "radio.north.example"
ARTICLE = "/news/100.html"
HAS_RATES = "() => !document.querySelector('#tile-fetched .value').textContent.includes('–')"
HAS_CHARTS = "() => !document.querySelector('[data-series]') || document.querySelector('.plotted')"
LANGUAGES = {"en": "en-GB", "zh": "zh-CN"}


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture.

    Attributes:
        name: ``now`` of ``console-now.png``.
        path: What the browser opens.
        width: Width of the window.
    """

    name: str
    path: str
    width: int = WIDTH


def main() -> int:
    """Crawls and writes the pictures; 1 when one is too large."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="how long the crawl runs before")
    asked = parser.parse_args()
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("no chromium is installed: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        crawled(Path(folder), asked.minutes) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        sizes = {
            file.name: write(file, picture(browser, url, shot, locale))
            for language, locale in LANGUAGES.items()
            for shot in shots(language)
            for file in [FOLDER / f"console-{shot.name}{suffix(language)}.png"]
        }
        browser.close()
    for name, size in sizes.items():
        sys.stdout.write(f"docs/plots/{name}  {size:,} bytes\n")
    return int(max(sizes.values()) > MOST_BYTES)


def suffix(language: str) -> str:
    """What ends the name of a picture."""
    return "" if language == "en" else f".{language}"


def shots(language: str) -> list[Shot]:
    """The pictures in a language; the page is one of that language."""
    article = f"https://{ENGLISH if language == 'en' else CHINESE}{ARTICLE}"
    return [
        Shot("now", "/"),
        Shot("host", "/hosts/shop.oldbooks.example"),
        Shot("page", f"/pages/{page_id(article)}?crawl={CRAWL}"),
        Shot("failures", "/failures"),
        Shot("phone", "/hosts?state=trouble", PHONE_WIDTH),
    ]


@contextmanager
def crawled(base: Path, minutes: float) -> Iterator[str]:
    """A console over a crawl that has run for some minutes and goes on; yields its address."""
    data = base / "data"
    with NamedWeb(base / "web", site()) as web:
        hosts = base / "hosts.toml"
        hosts.write_text("".join(f'["{host}"]\nproxy = "{web.proxy}"\n' for host in web.hosts))
        extra = {"SSL_CERT_FILE": str(web.ca_file), "CRAWLCLEAN_HOSTS_FILE": str(hosts)}
        seeds = [f"https://{host}/" for host in (ENGLISH, CHINESE, *OTHERS)]
        at = ("--data", str(data))
        crawl = start("run", *seeds, "--crawl", CRAWL, "--delay", "5", *at, **extra)
        console = start("console", "--no-password", "--port", "0", *at)
        try:
            if console.stdout is None:
                sys.exit("the console has no output")
            url = console.stdout.readline().split()[-1].rstrip("/")
            time.sleep(30 * minutes)
            start("pause", PAUSED, "--why", "moves to a new server", *at).communicate()
            time.sleep(30 * minutes)
            if crawl.poll() is not None:
                sys.stderr.write("the crawl is over: its pages wait for nothing\n")
            yield url
        finally:
            for process in (console, crawl):
                end(process)


def end(process: subprocess.Popen[str]) -> None:
    """Ends a process and those that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def picture(browser: Browser, url: str, shot: Shot, locale: str) -> bytes:
    """A page as PNG, from its top, at most ``MOST_HEIGHT`` high."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": 900}, locale=locale, color_scheme="light"
    )
    page = context.new_page()
    page.goto(url + shot.path)
    page.wait_for_load_state("networkidle" if shot.name == "page" else "load")
    if shot.name == "now":  # rates are known from the second reading on
        page.wait_for_function(HAS_RATES)
    page.wait_for_function(HAS_CHARTS)
    height = page.evaluate("() => document.documentElement.scrollHeight")
    clip = FloatRect(x=0, y=0, width=shot.width, height=min(height, MOST_HEIGHT))
    data = page.screenshot(full_page=True, clip=clip)
    context.close()
    return data


def write(file: Path, data: bytes) -> int:
    """Writes a picture with a palette; returns its size."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    counted = sorted(image.getcolors(image.width * image.height) or (), reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in counted for part in cast(tuple[int, ...], colour)])
    small = image.quantize(palette=palette, dither=Image.Dither.NONE)
    small.save(file, "PNG", optimize=True)
    return file.stat().st_size


if __name__ == "__main__":
    sys.exit(main())

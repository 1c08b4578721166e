"""Copies of pictures: found after eleven changes; a part of ``images.py``.

Pictures are those of the folders that ``CRAWLCLEAN_BENCH_PICTURES`` names, separated by ``:``,
tiles of their photographs, and drawings that are made here; without folders drawings alone. A copy
is found when it has a key in common and looks the same. Pairs of different pictures that are
called one are counted by kind, and named.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, UnidentifiedImageError

from crawlclean.cleaning.topics.pictures import is_same_picture, picture_keys, read_picture

DRAWINGS = 300
LEAST_SIDE = 150  # smaller pictures of a folder are icons
PHOTOGRAPH_BYTES = 50_000  # of a JPEG that is cut into tiles
FORMATS = (".jpg", ".jpeg", ".png", ".webp", ".gif")

Edit = Callable[[Image.Image], Image.Image]


def _cut(left: float, top: float, right: float, bottom: float) -> Edit:
    def edit(image: Image.Image) -> Image.Image:
        width, height = image.size
        box = (width * left, height * top, width * (1 - right), height * (1 - bottom))
        return image.crop((int(box[0]), int(box[1]), int(box[2]), int(box[3])))

    return edit


def _scaled(share: float) -> Edit:
    return lambda image: image.resize(
        (max(1, int(image.width * share)), max(1, int(image.height * share)))
    )


def _stamped(image: Image.Image) -> Image.Image:
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    font = ImageFont.load_default(size=max(12, image.height // 12))
    place = (int(image.width * 0.6), int(image.height * 0.88))
    ImageDraw.Draw(layer).text(place, "example.com", fill=(255, 255, 255, 190), font=font)
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")


EDITS: dict[str, tuple[Edit, int]] = {
    "half": (_scaled(0.5), 85),
    "quarter": (_scaled(0.25), 85),
    "quality 30": (lambda image: image, 30),
    "stamped": (_stamped, 85),
    "cut 2.5 % each side": (_cut(0.025, 0.025, 0.025, 0.025), 85),
    "cut 5 % each side": (_cut(0.05, 0.05, 0.05, 0.05), 85),
    "cut 5 % left": (_cut(0.05, 0, 0, 0), 85),
    "cut 5 % right": (_cut(0, 0, 0.05, 0), 85),
    "cut 5 % above": (_cut(0, 0.05, 0, 0), 85),
    "cut 5 % below": (_cut(0, 0, 0, 0.05), 85),
    "half, stamped, cut 2.5 % each side, quality 50": (
        lambda image: _stamped(_cut(0.025, 0.025, 0.025, 0.025)(_scaled(0.5)(image))),
        50,
    ),
}
"""Name -> the change, and the quality of the JPEG that is written."""


def copies() -> dict[str, Any]:
    """Returns the share of copies that are found, pairs of others that are called one, and CPU."""
    prints: dict[str, bytes] = {}
    hits: dict[str, dict[str, list[bool]]] = {name: defaultdict(list) for name in EDITS}
    cost = 0.0
    for name, image in _pictures():
        body = _jpeg(image, 90)
        begun = time.process_time()
        prints[name] = read_picture(body).prints
        cost += time.process_time() - begun
        for edit, (change, quality) in EDITS.items():
            copy = read_picture(_jpeg(change(image), quality)).prints
            hits[edit][_kind(name)].append(_is_found(prints[name], copy))
    pairs: Counter[str] = Counter()
    joined: Counter[str] = Counter()
    names = []
    for one, other in combinations(prints, 2):
        kind = " and ".join(sorted((_kind(one), _kind(other))))
        pairs[kind] += 1
        if is_same_picture(prints[one], prints[other]):
            joined[kind] += 1
            names.append(f"{Path(one).name}, {Path(other).name}")
    return {
        "pictures": dict(Counter(map(_kind, prints))),
        "without_print": sum(not each for each in prints.values()),
        "found": {edit: _shares(of_kind) for edit, of_kind in hits.items()},
        "pairs": dict(pairs),
        "joined": dict(joined),
        "joined_pairs": names,
        "cpu_ms": round(cost / len(prints) * 1000, 1),
    }


def _is_found(prints: bytes, copy: bytes) -> bool:
    keys = set(picture_keys(prints, "c"))
    return bool(keys.intersection(picture_keys(copy, "c"))) and is_same_picture(prints, copy)


def _shares(of_kind: Mapping[str, Sequence[bool]]) -> dict[str, float]:
    every = [hit for hits in of_kind.values() for hit in hits]
    return {
        "all": round(sum(every) / len(every), 4),
        **{kind: round(sum(hits) / len(hits), 4) for kind, hits in sorted(of_kind.items())},
    }


def _kind(name: str) -> str:
    return name.partition(":")[0]


def _jpeg(image: Image.Image, quality: int) -> bytes:
    file = BytesIO()
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def _pictures() -> Iterator[tuple[str, Image.Image]]:
    """Yields pictures with names, ``real:/a/b.png``, ``tile:/a/c.jpg#3``, ``drawing:17``."""
    seen: set[bytes] = set()  # digests
    for place in filter(None, os.environ.get("CRAWLCLEAN_BENCH_PICTURES", "").split(":")):
        for path in sorted(Path(place).rglob("*")):
            image = _read(path) if path.suffix.lower() in FORMATS else None
            digest = sha256(image.tobytes()).digest() if image else b""
            if image is None or digest in seen:
                continue
            seen.add(digest)
            yield f"real:{path}", image
            if path.suffix in (".jpg", ".jpeg") and path.stat().st_size >= PHOTOGRAPH_BYTES:
                yield from ((f"tile:{path}#{n}", tile) for n, tile in enumerate(_tiles(image)))
    for seed in range(DRAWINGS):
        yield f"drawing:{seed}", _drawing(seed)


def _read(path: Path) -> Image.Image | None:
    try:
        with Image.open(path) as image:
            if min(image.size) < LEAST_SIDE:
                return None
            paper = Image.new("RGBA", image.size, "white")
            found = Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB")
            found.thumbnail((800, 800))
            return found
    except (UnidentifiedImageError, OSError):
        return None


def _tiles(image: Image.Image) -> Iterator[Image.Image]:
    width, height = image.size
    for x in range(3):
        for y in range(2):
            box = (width * x // 3, height * y // 2, width * (x + 1) // 3, height * (y + 1) // 2)
            yield image.crop(box).resize((480, 360))


def _drawing(seed: int) -> Image.Image:
    """A drawing of shapes on shades, with noise; another one for each seed."""
    chance = random.Random(seed)  # noqa: S311 - a drawing
    size = (640, chance.choice((360, 426, 480)))

    def colour() -> tuple[int, ...]:
        return tuple(chance.randrange(256) for _ in range(3))

    shade = Image.linear_gradient("L").rotate(chance.choice((0, 90, 180, 270))).resize(size)
    image = Image.composite(
        Image.new("RGB", size, colour()), Image.new("RGB", size, colour()), shade
    )
    draw = ImageDraw.Draw(image)
    for _ in range(chance.randrange(6, 40)):
        x, y = chance.randrange(-50, size[0]), chance.randrange(-50, size[1])
        box = (x, y, x + chance.randrange(10, 220), y + chance.randrange(10, 220))
        chance.choice((draw.ellipse, draw.rectangle))(box, fill=colour())
    noise = Image.new("L", (size[0] // 8, size[1] // 8))
    noise.putdata([chance.randrange(60, 196) for _ in range(noise.width * noise.height)])
    noise = noise.resize(size, Image.Resampling.BICUBIC)
    image = ImageChops.overlay(image, noise.convert("RGB"))
    return image.filter(ImageFilter.GaussianBlur(chance.choice((0, 1, 2))))

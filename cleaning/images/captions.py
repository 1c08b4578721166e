"""The caption of a picture: text beside it on the page, else its alt text or title.

Evidence, in this order:

1. the ``<figcaption>``, or a line in a part with a class of captions, in the smallest part around
   the picture that has one;
2. the short line right under the picture, if it reads like a caption (图为…, …摄), is centred
   while the next line is not, or is alone in the picture's block;
3. the short line right over the picture, if it reads like a caption and begins with 图, ▼ or (;
4. the alt text or title, if it describes the picture.

A paragraph of the body is no caption.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from crawlclean.cleaning.body.page_body import Body, with_lines
from crawlclean.cleaning.document.tree import HEADINGS, Picture, Tree
from crawlclean.cleaning.features.lines import count_words, is_meta, plain_title
from crawlclean.cleaning.features.parts import is_caption
from crawlclean.cleaning.features.sections import promotes
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.records import Image

MAX_CHARS = 500  # of a caption in a record; the longest that are read have 120 units
_LEVELS = 4  # parts around a picture that may be its figure
_MAX_LINES = 6  # lines of a figure
_SHORT_UNITS = 60  # longest caption, in text units
_READING_UNITS = 120  # longest caption that reads like one
_LEAST_UNITS = 4  # shortest alt text or title that describes a picture
_FILE = re.compile(
    r"[\w.()%\s-]*\.(?:jpe?g|png|gif|webp|bmp)|[\W\d_a-f]*|(?:img|dsc|image)[\W\d_]*", re.I
)
_SENTENCE_END = '。！？!?.…”"'
_NOTHING = re.compile(
    r"(?:点击|點擊|查看|看|清晰|放大|大图|大圖|图片|圖片|图像|配图|插图|缩略图|此处|在这里|加载|image|picture|photo"
    r"|img|click|enlarge|alt|thumbnail|\W|\d)+",
    re.I,
)


def lines_of_captions(tree: Tree, images: Iterable[Image]) -> dict[int, str]:
    """Returns the lines of a page in the captions of its images, each with the whole caption."""
    captions = Captions(tree)
    return {
        line: image.caption
        for number, image in enumerate(images)
        if image.caption
        for line in captions.lines_of(number)
    }


def without_captions(tree: Tree, body: Body, read_images: Callable[[], Iterable[Image]]) -> Body:
    """Returns a body without the lines that are declared as captions, and are those of images.

    A body keeps them where they are half of its text: they are what the page is for, then. Few
    bodies have such lines, and the images are read for those alone.
    """
    declared = {i for i in body.lines if is_caption(tree, tree.line_blocks[i])}
    if not declared:
        return body
    found = lines_of_captions(tree, read_images())
    captions = {i for i in declared if tree.line_text(i) in found.get(i, "")}
    chars = sum(len(tree.line_text(i)) for i in captions)
    if not captions or 2 * chars > len(body.text):
        return body
    return with_lines(tree, body, [i for i in body.lines if i not in captions])


class Captions:
    """Finds the captions of one page's pictures."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._alts = Counter(picture.attributes.get("alt", "") for picture in tree.pictures)
        self._centred = frozenset(tree.centred_blocks)
        self._title = plain_title(tree.title)

    def of(self, number: int, alt: str) -> str:
        """Returns the caption of a picture in one line of at most 500 characters, or ``""``."""
        text = " ".join(map(self._tree.line_text, self.lines_of(number)))
        if not text:
            title = self._tree.pictures[number].attributes.get("title", "")
            title = " ".join(title.split())
            text = next((each for each in (alt, title) if self._describes(each)), "")
        return text[:MAX_CHARS]

    def lines_of(self, number: int) -> list[int]:
        """Returns the lines of the page that are the caption of a picture; [] for none."""
        picture = self._tree.pictures[number]
        return self._in_figure(number, picture) or self._beside(number, picture)

    def _in_figure(self, number: int, picture: Picture) -> list[int]:
        """The lines of a ``<figcaption>`` or a part with a class of captions around the picture."""
        tree, part = self._tree, picture.block
        for _ in range(_LEVELS):
            if part <= 0:
                break
            first, end = tree.block_lines[part], tree.line_end(part)
            if end - first > _MAX_LINES:
                break
            blocks = tree.line_blocks
            named = [line for line in range(first, end) if is_caption(tree, blocks[line], part)]
            if named:
                return self._own(named, number, part)
            part = tree.block_parents[part]
        return []

    def _own(self, named: list[int], number: int, part: int) -> list[int]:
        """The captions of a part; in a row of pictures those before the next picture."""
        tree = self._tree
        end = tree.block_ends[part]
        around = tree.pictures[max(number - 1, 0) : number + 2]
        if sum(part <= picture.block < end for picture in around) < 2:
            return named
        behind = tree.pictures[number + 1 : number + 2]
        to = behind[0].run if behind and part <= behind[0].block < end else len(tree.texts)
        starts = tree.line_starts
        return [line for line in named if tree.pictures[number].run <= starts[line] < to]

    def _beside(self, number: int, picture: Picture) -> list[int]:
        """The line right under or right over a picture if it is a caption, else none."""
        tree, run = self._tree, picture.run
        below = tree.line_of[run] if run < len(tree.texts) else -1
        # The next picture may stand between a picture and the text below.
        is_next = all(each.run != run for each in tree.pictures[number + 1 : number + 2])
        if below >= 0 and tree.line_starts[below] == run and is_next:
            text = tree.line_text(below)
            if self._may_caption(below, text) and (
                reads_like_caption(text)
                or self._is_centred_alone(below, text)
                or self._shares_block(below, picture)
            ):
                return [below]
        above = tree.line_of[run - 1] if 0 < run <= len(tree.texts) else -1
        if above >= 0:
            text = tree.line_text(above)
            if tree.line_runs(above)[1] == run and self._may_caption(above, text):
                return [above] if reads_like_caption(text) and text[:1] in "图圖▼（(" else []
        return []

    def _may_caption(self, line: int, text: str) -> bool:
        """Whether a line is short enough, and no heading, link, byline or promotion."""
        tree = self._tree
        start, end = tree.line_runs(line)
        units = count_words(text)
        limit = _READING_UNITS if reads_like_caption(text) else _SHORT_UNITS
        return (
            len(text) > 1
            and units <= limit
            and tree.block_tags[tree.line_blocks[line]] not in HEADINGS
            and all(tree.anchor_of[run] < 0 for run in range(start, end))
            and (reads_like_caption(text) or not is_meta(text))
            and not _NOTHING.fullmatch(text)
            and not promotes(text)
            and text[-1] not in ":："
        )

    def _is_centred_alone(self, line: int, text: str) -> bool:
        """Whether a line is a centred phrase and the next line is not centred."""
        # Chinese captions may end as sentences do.
        is_phrase = text[-1] == "。" or text[-1] not in _SENTENCE_END
        return is_phrase and self._is_centred(line) and not self._is_centred(line + 1)

    def _is_centred(self, line: int) -> bool:
        tree = self._tree
        if line >= len(tree.line_starts):
            return False
        block = tree.line_blocks[line]
        for _ in range(2):
            if block in self._centred or tree.block_tags[block] == "center":
                return True
            block = tree.block_parents[block]
            if block <= 0 or tree.line_end(block) - tree.block_lines[block] > 2:
                break
        return False

    def _shares_block(self, line: int, picture: Picture) -> bool:
        """Whether a line is a phrase and the whole text of the block with the picture."""
        tree, block = self._tree, picture.block
        if tree.block_tags[block] in ("body", "article", "main") or block <= 0:
            return False
        is_alone = tree.block_lines[block] == line == tree.line_end(block) - 1
        return is_alone and tree.line_text(line)[-1] not in _SENTENCE_END

    def _describes(self, text: str) -> bool:
        """Whether an alt text or title is a description: no file name, button or page title."""
        if count_words(text) < _LEAST_UNITS or self._alts[text] > 1:
            return False
        if _FILE.fullmatch(text) or _NOTHING.fullmatch(text) or "://" in text:
            return False
        plain = plain_title(text)
        return bool(plain) and plain not in self._title and self._title not in plain


@lru_cache(maxsize=8192)
def reads_like_caption(text: str) -> bool:
    """Whether a line begins or ends as captions do: 图为…, ▲…, …摄."""
    starts, ends = _words()
    text = text.lower().strip()
    return text.startswith(starts) or text.endswith(ends)


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The beginnings and the ends of captions: 图为, 摄."""
    words = sorted(word_list("caption_words"))
    return (
        tuple(word[1:] for word in words if word[0] == "^"),
        tuple(word[1:] for word in words if word[0] == "$"),
    )

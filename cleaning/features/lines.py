"""The lines of a page: their worth, the sums of their units by part, the title's line.

Running text is worth its words, links cost theirs. The principle is paper 2's (text between links
against links), taken line by line: a line with more linked than own words is navigation and costs
its words; a line that reads like sentences (long enough, with punctuation) is worth its own words;
every other line is nearly neutral. Two kinds of running text are not the body's and are worth
nothing: disclaimers of a site, and short lines about the body (source, time, buttons). Code is
text, however short its lines.

A *unit* is a Chinese, Japanese or Korean character, or a word of another script: ``中文 two words``
has 4. A *part* is a block element with all its contents; parts are numbered in document order, so
that the parts inside part ``p`` are ``p + 1 .. tree.block_ends[p] - 1`` and one pass from the end
adds up everything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from crawlclean.cleaning.document.tree import Tree, Weighed
from crawlclean.cleaning.lexicon import pattern_of, word_list
from crawlclean.cleaning.records import VerdictReason

# The trail of a body's search: which rule cut which line.
#
# The rules note here what they decide, only where somebody asks for the reasons: ``Lines.trail`` is
# None otherwise. A search may be tried several times, for an article and for posts; each try is an
# ``Attempt``, and the one whose lines became the body is known by its list of lines.


@dataclass(slots=True)
class Attempt:
    """One try to find the lines of a body.

    Attributes:
        kept: The lines it found.
        cut: Line -> the rule that cut it.
        by: Line -> the line of the marker that cut it.
        noise: The outermost parts that are noise, each with the rule.
        link_lists: The outermost parts cut as lists of links.
        container: The part the body lies in; -1 where posts were looked for.
        weights: Worth of each part in words.
        worth: Worth of each line in words.
        first_post: Lines of an article that joined the posts.
    """

    noise: list[tuple[int, VerdictReason]]
    kept: list[int] = field(default_factory=list)
    cut: dict[int, VerdictReason] = field(default_factory=dict)
    by: dict[int, int] = field(default_factory=dict)
    link_lists: list[int] = field(default_factory=list)
    container: int = -1
    weights: list[float] = field(default_factory=list)
    worth: list[float] = field(default_factory=list)
    first_post: frozenset[int] = frozenset()


@dataclass(slots=True)
class Trail:
    """The notes of one page.

    Attributes:
        lines: The lines of the page, as weighed.
        all_attempts: Line -> the rule that made it worthless in every attempt.
        attempts: The attempts in order.
        chosen: The attempt whose lines became the page's own body; None before.
    """

    lines: Lines | None = None
    all_attempts: dict[int, VerdictReason] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    chosen: Attempt | None = None

    def begin(self, noise: Iterable[tuple[int, VerdictReason]]) -> None:
        """Starts an attempt with the parts that are noise in it."""
        self.attempts.append(Attempt(noise=list(noise)))

    def cut(self, lines: Iterable[int], reason: VerdictReason) -> None:
        """Notes that a rule cut lines in the present attempt."""
        cut = self.attempts[-1].cut
        for line in lines:
            cut[line] = reason

    def end(self, kept: list[int]) -> None:
        """Notes the lines that the present attempt found."""
        self.attempts[-1].kept = kept

    def choose(self, kept: list[int]) -> None:
        """Notes that the attempt with this list of lines gave the body."""
        self.chosen = next((one for one in self.attempts if one.kept is kept), None)


# Marks inside and at the end of sentences, also Arabic, Urdu and Devanagari ones.
_MARKS = re.compile(r"[。！？；，、：,.!?;:…”\"』」）)،؛؟۔।॥]")
_WORD = re.compile(r"[^\W_]")
SENTENCE_END = re.compile(r"[。！？.!?…؟۔।][”\"』」’)）\]\s\d]*$")
_COST_IN_SENTENCE = 0.3  # of a linked word in a sentence, in own words; elsewhere it costs one
_LEAST_WORDS = 2  # a plain line of one word is a label
_META_COST = 8  # words about the body that are worth one word
_DATE = re.compile(r"\d{4}\s*[-/年.]\s*\d{1,2}\s*[-/月.]\s*\d{1,2}")
# Every threshold stands in the middle of a wide plateau of scores on labelled pages; none was
# chosen for one page.
MIN_UNITS = 8  # shortest line that can be running text
# Running text has a punctuation mark for every so many units; lists of words and tables have none.
_UNITS_PER_MARK = 60
# Worth of a line that is neither running text nor links. A little below zero: it never makes a
# container larger by itself; a list of such lines is no body of its own.
PLAIN_WORTH = -0.3
_META_UNITS = 30  # longest line about the body (source, time, buttons)
_DISCLAIMER_UNITS = 60  # longest line of a site's disclaimer
# Shortest text that is cut where it repeats in another part: a second layout for small screens, a
# summary.
_REPEAT_UNITS = 15
_MAX_REPEATED = 12  # lines on each side of one that are compared, so that the cost stays linear
TEASER_UNITS = 4  # shortest link text that can be another page's title
_MAX_TITLE_UNITS = 60  # longest line that can be the title
_LEAST_TITLE_CHARS = 4  # a shorter line stands in many titles by chance
_LEAST_TITLE_SCORE = 0.25  # less than a quarter of a title is a part of it: a channel, a date
_KEPT_CHARS = 100  # longest text whose plain form is remembered
_NO_LETTERS = re.compile(r"[\W_]+")


@dataclass(slots=True)
class Lines:
    """The lines of a tree, as parallel lists.

    Attributes:
        tree: The page.
        texts: White space collapsed; ``""`` for a line of links, see ``Tree.line_text``.
        own: Units outside links.
        linked: Units inside links.
        worth: > 0 for running text, -0.3 for plain lines, <= -1 for links and disclaimers.
        trail: Notes why lines are cut, where they are asked for.
        title: The line of the page's title, -1 without.
        declared: Lines that the page declares as the description of its product, growing.
        is_noise: For each part whether it was noise in the last search for an article.
        sums: The sums of the parts, once ``add_up`` has made them.
    """

    tree: Tree
    texts: list[str]
    own: list[float]
    linked: list[float]
    worth: list[float]
    trail: Trail | None = None
    title: int = -1
    declared: list[int] = field(default_factory=list)
    is_noise: list[bool] = field(default_factory=list)
    sums: Sums = field(init=False)

    def cut(self, lines: Iterable[int], reason: VerdictReason) -> None:
        """Notes that a rule cut lines in the present attempt, where it is asked for."""
        if self.trail is not None:
            self.trail.cut(lines, reason)

    def end(self, kept: list[int]) -> None:
        """Notes the lines that the present attempt found, where it is asked for."""
        if self.trail is not None:
            self.trail.end(kept)


def trim_to(text: str, wanted: re.Pattern[str]) -> str:
    """Returns a text from the first to the last character that a pattern of one character matches.

    A pattern such as ``[\\W_]+$`` would read a run of punctuation anew from each of its places.
    """
    first = wanted.search(text)
    last = wanted.search(text[::-1])
    return text[first.start() : len(text) - last.start()] if first and last else ""


def count_words(text: str) -> float:
    """Counts the units of a text by its bytes: exact for one script, close for mixed text."""
    words = text.split()
    # A source's indentation is no text.
    return len(words) if text.isascii() else _estimate(" ".join(words), len(words))


def _estimate(text: str, words: int) -> float:
    """The units of a text with so many words, white space collapsed."""
    # Of a text in UTF-8, a CJK character takes two bytes more than one of ASCII.
    extra = len(text.encode("utf-8", "replace")) - len(text)
    if extra <= len(text):
        return words
    wide = extra / 2
    return wide + (len(text) - wide) / 6


def count_units(tree: Tree, texts: list[str] | None = None) -> tuple[list[float], list[float]]:
    """Counts own and linked units of each line.

    Args:
        tree: The page.
        texts: Receives the text of each run outside links, white space collapsed; ``""`` for
            runs in links.
    """
    own = [0.0] * len(tree.line_starts)
    linked = [0.0] * len(tree.line_starts)
    plain = [] if texts is None else texts
    for text, anchor, line in zip(tree.texts, tree.anchor_of, tree.line_of, strict=True):
        words = text.split()
        units: float = len(words)
        if anchor < 0:
            text = " ".join(words)
            plain.append(text)
            if not text.isascii():
                units = _estimate(text, len(words))
            own[line] += units
        else:
            if not text.isascii():
                units = _estimate(" ".join(words), len(words))
            plain.append("")
            linked[line] += units
    return own, linked


def weigh_lines(tree: Tree, trail: Trail | None = None) -> Lines:
    """Counts own and linked units and the worth of each line; notes disclaimers.

    A page is searched several times, and each search changes the worth of its lines.
    """
    if tree.weighed is None or trail is not None:
        tree.weighed = _weigh_lines(tree, trail)
    texts, own, linked, worth = tree.weighed
    return Lines(tree, texts.copy(), own, linked, worth.copy(), trail)


def _weigh_lines(tree: Tree, trail: Trail | None) -> Weighed:
    plain: list[str] = []
    own, linked = count_units(tree, plain)
    count = len(own)
    runs, starts = tree.texts, [*tree.line_starts, len(tree.texts)]
    texts = [""] * count
    worth = [PLAIN_WORTH] * count
    chinese, english = _disclaimers()
    for i in range(count):
        mine = own[i]
        links = linked[i]
        start, end = starts[i], starts[i + 1]
        has_word = not links or _WORD.search("".join(plain[start:end])) is not None
        if links > mine or not has_word:
            worth[i] = -links - 1
            if has_word and mine >= TEASER_UNITS and ends_sentence(tree, i):
                # The links are words of a sentence, as encyclopedias have them.
                texts[i] = " ".join("".join(runs[start:end]).split())
                worth[i] = max(mine - _COST_IN_SENTENCE * links, PLAIN_WORTH)
            continue
        text = plain[start] if end - start == 1 else ""
        texts[i] = text = text or " ".join("".join(runs[start:end]).split())
        if mine >= MIN_UNITS and _is_running(text, mine):
            if mine < _META_UNITS and is_meta(text):
                continue
            worth[i] = mine - links
            if mine < _DISCLAIMER_UNITS:
                text = text.lower()
                if chinese.search(text) or english.search(text):
                    worth[i] = -1.0
                    if trail is not None:
                        trail.all_attempts[i] = VerdictReason.DISCLAIMER
    for block in tree.code_blocks:
        for i in range(tree.block_lines[block], tree.line_end(block)):
            if worth[i] == PLAIN_WORTH and not texts[i].isdigit():
                worth[i] = own[i] - linked[i]
    tree.known_texts = texts.copy()
    return texts, own, linked, worth


def ends_sentence(tree: Tree, line: int) -> bool:
    """Whether a line ends as a sentence does, outside links."""
    last = tree.line_runs(line)[1] - 1
    return tree.anchor_of[last] < 0 and SENTENCE_END.search(tree.texts[last]) is not None


def cut_repeats(lines: Lines) -> None:
    """Makes lines worthless that stand in an earlier part already: second layouts, summaries.

    Repeats side by side are the text's own: refrains, forms. So is one line of like parts whose
    other lines differ: notes on several functions, goods of one make. Where neighbours repeat too,
    the short lines among them are cut with the running text.
    """
    tree = lines.tree
    parents, texts, worths = tree.block_parents, lines.texts, lines.worth
    first_in: dict[str, int] = {}
    for i, worth in enumerate(worths):
        if worth < _REPEAT_UNITS:
            continue
        first = first_in.setdefault(texts[i], i)
        here, there = tree.line_blocks[i], tree.line_blocks[first]
        if here == there or parents[here] == parents[there]:
            continue
        start, end = _repeated(texts, first, i)
        if end - start == 1 and _shape(tree, here) == _shape(tree, there):
            continue
        for line in range(start, end):
            if worths[line] == PLAIN_WORTH or line == i:
                worths[line] = -1.0
                if lines.trail is not None:
                    lines.trail.all_attempts[line] = VerdictReason.REPEATED


def _repeated(texts: list[str], first: int, line: int) -> tuple[int, int]:
    """(first, behind the last) of the lines around one that repeat those around an earlier one."""
    start, end, most = line, line + 1, min(len(texts), line + _MAX_REPEATED)
    back = line - first
    least = max(back, line - _MAX_REPEATED)
    while start > least and "" != texts[start - 1] == texts[start - 1 - back]:
        start -= 1
    while end < most and "" != texts[end] == texts[end - back]:
        end += 1
    return start, end


def _shape(tree: Tree, block: int) -> tuple[str, str, str, str]:
    """Tag and names of a part and of the part around it."""
    tags, names, around = tree.block_tags, tree.block_names, tree.block_parents[block]
    return tags[block], names[block], tags[around], names[around]


def weigh_plain_lines(lines: Lines) -> None:
    """Makes lines that are neither running text nor links worth half of their words.

    Lines about the body are worth an eighth: some bodies have such words.
    """
    title_line = lines.title
    for i, (own, linked) in enumerate(zip(lines.own, lines.linked, strict=True)):
        if lines.worth[i] == PLAIN_WORTH and own >= _LEAST_WORDS and i != title_line:
            lines.worth[i] = (own - linked) / (_META_COST if is_meta(lines.texts[i]) else 2)


def is_meta(text: str) -> bool:
    """Whether a short line is about the body: source, author, time, buttons."""
    words, starts = _meta()
    text = text.lower()
    return bool(words.search(text) or starts.match(text) or _DATE.search(text))


def _is_running(text: str, units: float) -> bool:
    if units <= _UNITS_PER_MARK:
        return _MARKS.search(text) is not None
    return len(_MARKS.findall(text)) * _UNITS_PER_MARK >= units


@lru_cache(maxsize=1)
def _meta() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """(pattern of words inside, pattern of beginnings) of lines about the body."""
    words = sorted(word_list("meta_words"))
    starts = (
        re.escape(word[1:]) + (r"\b" if word[-1].isalpha() else "")
        for word in words
        if word.startswith("^")
    )
    return (
        pattern_of(word for word in words if not word.startswith("^")),
        re.compile(rf"\W*(?:{'|'.join(starts)})"),
    )


@lru_cache(maxsize=1)
def _disclaimers() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of Chinese and of English disclaimers; one pattern of both takes twice as long."""
    words = sorted(word_list("disclaimers"))
    chinese = pattern_of(word for word in words if not word.isascii()).pattern
    english = pattern_of(word for word in words if word.isascii())
    return re.compile(chinese.replace("…", ".{0,20}")), english


@dataclass(slots=True)
class Sums:
    """The sums over the lines of each part, as parallel lists.

    Attributes:
        own: Units outside links.
        linked: Units inside links.
        running: Worth of the running text.
        teases: Whether some line may be the title of another page: linked, and long enough.
    """

    own: list[float]
    linked: list[float]
    running: list[float]
    teases: list[bool]


def add_up(lines: Lines) -> Sums:
    """Sums up the lines of all parts; the sums are those of the lines from then on."""
    tree = lines.tree
    count = len(tree.block_tags)
    parents = tree.block_parents
    own = [0.0] * count
    linked = [0.0] * count
    running = [0.0] * count
    teases = [False] * count
    for block, mine, links, worth in zip(
        tree.line_blocks, lines.own, lines.linked, lines.worth, strict=True
    ):
        own[block] += mine
        if links:
            linked[block] += links
            if links >= TEASER_UNITS and links >= mine:
                teases[block] = True
        if worth > 0:
            running[block] += worth
    for block in range(count - 1, 0, -1):
        mine = own[block]
        if mine:
            own[parents[block]] += mine
            worth = running[block]
            if worth:
                running[parents[block]] += worth
        links = linked[block]
        if links:
            linked[parents[block]] += links
            if teases[block]:
                teases[parents[block]] = True
    lines.sums = Sums(own=own, linked=linked, running=running, teases=teases)
    return lines.sums


def find_title_line(lines: Lines) -> int:
    """Finds the line that repeats ``<title>``, else the first h1; -1 without either.

    The title without punctuation must hold the line or the reverse; the more of it the better,
    headings before others, links last; of equal lines the first.
    """
    tree = lines.tree
    title = plain_title(tree.title)
    best, best_score = -1, _LEAST_TITLE_SCORE
    if title:
        own, linked, tags, source = lines.own, lines.linked, tree.block_tags, tree.title
        # Most lines are neither headings nor like the title: only the others are compared.
        near = {
            i for i, text in enumerate(lines.texts)
            if text and text[:2] in source and len(text) >= _LEAST_TITLE_CHARS
        }  # fmt: skip
        near.update(tree.line_of[start] for _, start, end in tree.headings if start < end)
        for i in sorted(near):
            if own[i] + linked[i] > _MAX_TITLE_UNITS:
                continue
            block, text = tree.line_blocks[i], lines.texts[i]
            line = plain_title(text or tree.line_text(i))
            if len(line) < _LEAST_TITLE_CHARS or not (line in title or title in line):
                continue
            score = len(line) / max(len(title), len(line))
            if tags[block] in ("h1", "h2"):
                score += 0.3
            if linked[i] > own[i]:
                score -= 0.5
            if score > best_score + 0.05 * (best >= 0):
                best, best_score = i, score
    if best >= 0:
        return best
    firsts = [
        tree.line_of[start] for level, start, end in tree.headings if level == 1 and end > start
    ]
    parts = [tree.block_parents[tree.line_blocks[line]] for line in firsts[:2]]
    # Side by side they are the headings of sections.
    return firsts[0] if firsts and len(parts) == len(set(parts)) else -1


def plain_title(text: str) -> str:
    """Returns the letters and digits of a title in one form: ``page1`` of ``Page - １``."""
    return _plain(text) if len(text) <= _KEPT_CHARS else _plain.__wrapped__(text)


@lru_cache(maxsize=512)  # titles come several times a page, site names on all pages
def _plain(text: str) -> str:
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", text).lower())

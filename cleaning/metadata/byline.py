"""The byline of a text: the lines around its title and its ends, and the author in them.

``Byline`` collects the lines; the date of publication is found in them too (``dates``).
``find_author`` tries in this order:

1. JSON-LD;
2. labels before a name (作者：, 文/, 记者, By) or behind it (发表于);
3. ``<meta>``;
4. links and parts with ``rel=author``, ``itemprop=author`` or a class name of authors;
5. 记者 in brackets at the ends of the body;
6. where no person is named, the medium or agency that JSON-LD declares.

An editor (责任编辑), a source (来源) and a photographer (摄影) are no authors. Rejected are
placeholders (``data/no_authors.txt``), media and companies (``data/organisation_words.txt``), the
site's own names, URLs and whole sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from operator import itemgetter

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import plain_title
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.metadata.title import brand_names, site_names

# The lines
_LINES_BEFORE = 8  # lines before the title, or before the body of a page without title line
_LINES_BEHIND = 12  # lines behind the body
_LINES_AT_ENDS = 2  # first and last lines of the body itself
_LINES_UNDER = 4  # lines under a title that is part of the body
_MAX_LINES = 40  # lines from the first one above the title to the body
MAX_LINE_CHARS = 160  # longest line of a byline; a longer one is a paragraph
_MAX_SOURCE_CHARS = 4 * MAX_LINE_CHARS  # before white space is collapsed
Inline = tuple[str, dict[str, str], int]
"""An inline element: tag, attributes, first run, such as ``("time", {"datetime": "2026"}, 41)``."""

# Authors
_MAX_NAMES = 16  # more are a masthead
_END_MARKS = " :：/|-—·,，.。"
_BRACKET_PAIRS = dict(zip("()（）[]【】", ")(）（][】【", strict=True))
_NEAR_LINES = 5  # lines behind a body with its author; cards of other texts stand farther behind
_MAX_NAMES_CHARS = 200  # of class names that are searched: some pages list a hundred
_MAX_NAME_CHARS = 40  # longest name of an author; a longer text is a sentence
_MAX_WORDS = 5  # of a name in Latin letters, titles of persons included
# Of a name in Chinese characters, a foreign one with its dots; more is a sentence.
_MAX_WIDE_CHARS = 14
_ORGANISATION_ENDS = ("网", "網", "报", "報", "社", "台", "臺", "局", "部", "厅", "院", "版")
_NO_NAME = re.compile(r"[:：=<>{}?？!！。]|(?:19|20)\d\d")
_LONE_NAME_CHARS = 4  # longest Chinese name: a family name and two or three characters
_READ_CHARS = 80  # characters behind a label that are read for names
_WIDE = re.compile(r"[\u3400-\u9fff]")
_NAME = re.compile(r"[\u3400-\u9fff]{2,4}|[\u3400-\u9fff]{1,8}(?:[·•・][\u3400-\u9fff]{1,8}){1,3}")
# 作者 is a label anywhere; 记者 and 文 also occur in sentences, so a name must follow them.
_LABEL = re.compile(
    r"(?:原?作\s{0,4}者|撰\s{0,2}[文稿写]|采写|採寫|[Aa]uthors?|AUTHORS?|[Ww]ritten\s[Bb]y)\s{0,3}[:：丨|／/]\s{0,4}"
    r"|[Ww]ritten\s[Bb]y\s"
)
# Every label holds one of these in lower case; most lines hold none of them.
_HINT = re.compile(
    "[者文撰写寫创創于於bun]"
    "(?:(?<=[者文撰写寫创創])|(?<=[表布佈][于於])|(?<=b)y|(?<=u)thor|(?<=ed on))"
)
_REPORTER = re.compile(
    r"(?:^|[\s【\[(（:：/／|丨])[^\s，。；：:、【】()（）/／|丨]{0,10}?(?:记者|記者|特约撰稿人|(?:^|(?<=[【\[(（]))作者)"
    r"(?:\s{0,3}[:：/／|丨]\s{0,4}|\s{1,3}|(?=[\u3400-\u9fff]{2,4}(?:$|[\s、/／)）】\]])))"
    r"|(?:^|[\s【\[(（])[图圖]?文字?\s?[/／|丨:：]\s{0,4}"
)
_BY = re.compile(
    r"^(?:(?:[Pp]osted|[Pp]ublished|[Ww]ritten|[Rr]eported|Opinion|Analysis|Story|Text|Words)\s)?(?:By|BY|by)[:\s]\s{0,3}(?=\S)"
)
# 张三 发表于 2026-11-01, Ann Lee posted on May 3, 原创 张三 2026-11-01.
_BEFORE_DATE = re.compile(
    r"(?:(?:原创|原創)\s{0,2}[:：|]?\s{0,2})?"
    r"(?P<names>[^\s\d:：|，。,;]{2,20}?|[A-Z][\w.'-]{1,20}(?:\s[A-Z][\w.'-]{0,20}){1,2})"
    r"\s{0,2}(?:[发發]表[于於]|[发發][布佈][于於]|\s[Pp](?:osted|ublished)\son\b)[\s:：]{0,3}"
    r"(?=\d|[A-Z][a-z]{2}|[今昨前]天|刚)"
    r"|(?:原创|原創)\s{1,2}(?P<own>[^\s\d:：|，。,;]{2,20})\s{1,2}"
    r"(?=(?:19|20)\d\d\s?[-/.年]|\d{1,2}[-/月]\d|\d{1,4}\s?[^\s\d]{1,2}前|[今昨前]天|刚刚)"
)
_BRACKETS = re.compile(
    r"[(（【\[](?:[^()（）【】\[\]\d]{0,14}?)(?:记者|記者)\s{0,3}[:：/／|丨]?\s{0,3}"
    r"(?P<names>[^()（）【】\[\]]{2,40})[)）】\]]"
)
# Words and marks that end the names behind a label.
_END = re.compile(
    r"责任|責任|责编|編輯|编辑|来源|來源|稿源|出处|时间|時間|日期|发布|發布|发表|發表|更新|阅读|閱讀|点击|點擊|浏览|瀏覽|评论|評論"
    r"|摄影|攝影|摄|攝|报道|報道|報導|编译|編譯|审核|审校|校对|标签|分类|字号|字体|大小|收藏|分享|关注|打印|通讯员|通訊員|实习生|人气|热度"
    r"|公众号|微信|微博|如若|如需|转载|轉載|请注明|版权|译者|翻译|记者|记者|作者|\d{2,4}\s?[-年/.:：]|[【】\[\]()（）<>《》。！？!?|｜•»«]|\s[-–—]\s"
    r"|\b[Oo]n\b|\bat\s|\bfor\s|\bis\s|\b(?:[Pp]ublished|[Uu]pdated|[Pp]osted|[Ll]ast|[Ee]dited|[Cc]ategor|[Ff]iled|[Ss]hare|[Ss]enior|[Ss]taff|[Cc]ontribut|[Rr]eporter|[Cc]orrespondent|[Ee]ditor)"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]{0,6}\.?\s\d"
)
# "And" in eighteen languages; short ones stand in names, too: Ortega y Gasset.
_SPLIT = re.compile(
    r"\s*(?:[、,，;；/／&＆+]|\b(?:and|und|et|og|och|ve|và|dan|és|și|και)\b)\s*"
    r"|(?<=[^\W\d_])\s+(?:y|e|i|a|en|ja|и|і|та)\s+(?=\S+\s+\S)|\s*和\s*(?=[\u3400-\u9fff]{2,3}$)"
)
_INITIALS = re.compile(r"\s\([a-z.]{2,5}\)$")  # of a writer, behind the name

_SPLIT_STRICT = re.compile(r"\s*[、/／&＆]\s*")
# 文/某报记者 张三: the name comes behind the second word.
_ROLE_BEHIND = re.compile(r"[^\s，。；：:、]{0,12}(?:记者|記者|作者|撰稿人|评论员)[\s:：]{1,3}")
_PLACE_ENDS = ("省", "市", "县", "縣", "区", "區", "镇", "州")
_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|cn|tv|cc|co|info)\b", re.I)
_ADDRESS = re.compile(r"\S*(?:@|://|www\.)\S*")
_NO_AUTHOR = re.compile(
    r"\W{0,3}(?:责任|責任|责编|責編|编辑|編輯|来源|來源|校对|校對|审核|审校|摄影|攝影|翻译|翻譯|译者|edit|source|photo)",
    re.I,
)
_ROLES = re.compile(
    r"^(?:本[报報刊网網台]|[^\s]{0,8}[报報社网網]|首席|实习|特约|特派)?(?:记者|記者|作者|编辑|文|撰文|摄影)\s*[:：/／]?\s*"
    r"|^(?:(?:opinion|analysis|story|text|words|written|posted) )?(?:by|author)[:\s]\s*"
    r"|^(?-i:Von|VON|Par|PAR|Por|POR|Door|DOOR)\s(?=(?-i:[A-Z\u00c0-\u00de])\w+\s\w)",
    re.I,
)
_AUTHOR_NAMES = re.compile(
    r"(?:^|[\s_-])(?:post|article|entry|news|art|story|p)?[_-]?(?:author|byline|writer|reporter|zuozhe|columnist)s?"
    r"(?:$|[\s_-]|name)|[a-z](?:Author|Byline|Writer)(?:$|[\s_-]|Name)|authorName"
    r"|rich_media_meta_text",  # WeChat's
    re.I,
)


class Byline:
    """The lines around a body where its author and its date may stand, all by number.

    Attributes:
        title: The line of the title, -1 without one.
        first: The first line of the body, -1 without a body.
        last: The last line of the body, -1 without a body.
        above: The lines from 8 before the title to the body; of more than 40 the first and last 20.
        inside: The first two and last two lines of the body, and 4 lines under a title in the body.
        behind: The 12 lines behind the body.
    """

    def __init__(self, tree: Tree, body: Body) -> None:
        self.title = body.title_line
        self.first, self.last = body.first, body.last
        self.above: list[int] = []
        self.inside: list[int] = []
        self.behind: list[int] = []
        self._tree = tree
        self._texts: dict[int, str] | None = None  # line -> text of the short lines
        self._joined = ""
        self._starts: list[int] = []
        self._inlines: dict[int, list[Inline]] | None = None
        if not body.lines:
            return  # a page without a body has no byline
        first, last = self.first, self.last
        begin = max(0, (min(self.title, first) if self.title >= 0 else first) - _LINES_BEFORE)
        half = _MAX_LINES // 2
        if first - begin <= _MAX_LINES:
            self.above = list(range(begin, first))
        else:
            self.above = [*range(begin, begin + half), *range(first - half, first)]
        ends = min(_LINES_AT_ENDS, last - first + 1)
        self.inside = sorted({*range(first, first + ends), *range(last + 1 - ends, last + 1)})
        if self.has_title_inside:
            under = range(self.title + 1, min(self.title + 1 + _LINES_UNDER, last + 1))
            self.inside = sorted({*self.inside, *under})
        self.behind = list(range(last + 1, min(last + 1 + _LINES_BEHIND, len(tree.line_starts))))

    @property
    def has_title_inside(self) -> bool:
        """Whether the title is one of the first five lines of the body."""
        return self.first <= self.title <= min(self.last, self.first + _LINES_UNDER)

    def is_under_title(self, line: int) -> bool:
        """Whether a line is one of the four under a title that is part of the body."""
        return self.has_title_inside and self.title < line <= self.title + _LINES_UNDER

    def matching(self, pattern: re.Pattern[str], more: Iterable[int] = ()) -> list[tuple[int, str]]:
        """Returns the lines of at most 160 characters that match a pattern, with their texts.

        All lines are searched as one text, because few of them match.

        Args:
            pattern: Must match lower-case text within one line.
            more: Lines that count without a match.
        """
        texts = self._short_lines()
        joined, starts = self._joined, self._starts
        lines = list(texts)
        found = {line for line in more if line in texts}
        match = pattern.search(joined)
        while match:
            i = bisect_right(starts, match.start())
            found.add(lines[i - 1])
            match = pattern.search(joined, starts[i]) if i < len(starts) else None
        return [(line, texts[line]) for line in sorted(found)]

    def _short_lines(self) -> dict[int, str]:
        """Line -> text of the lines of at most 160 characters, in order."""
        if self._texts is None:
            found: dict[int, str] = {}
            texts, starts = self._tree.texts, self._tree.line_starts
            for line in sorted({*self.above, *self.inside, *self.behind}):
                start = starts[line]
                end = starts[line + 1] if line + 1 < len(starts) else len(texts)
                text = texts[start] if end - start == 1 else "".join(texts[start:end])
                if len(text) <= _MAX_SOURCE_CHARS:
                    text = " ".join(text.split())
                    if len(text) <= MAX_LINE_CHARS:
                        found[line] = text
            lower = [text.lower() for text in found.values()]
            self._starts = [0, *accumulate(len(text) + 1 for text in lower[:-1])]
            self._joined = "\n".join(lower)
            self._texts = found
        return self._texts

    @property
    def inlines(self) -> dict[int, list[Inline]]:
        """Line -> inline elements with attributes that begin on it, for all lines of the byline."""
        if self._inlines is None:
            found = self._inlines = {}
            tree = self._tree
            for lines in (self.above, *([line] for line in self.inside), self.behind):
                if not lines:
                    continue
                start, end = tree.line_starts[lines[0]], tree.line_runs(lines[-1])[1]
                for i in range(_first_at(tree.inlines, start), _first_at(tree.inlines, end)):
                    inline = tree.inlines[i]
                    found.setdefault(tree.line_of[inline[2]], []).append(inline)
        return self._inlines


def _first_at(inlines: list[Inline], run: int) -> int:
    return bisect_left(inlines, run, key=itemgetter(2))


def find_author(
    document: Document, lines: Byline, language: str | None, said: Sequence[str] = ()
) -> str | None:
    """Returns the names of a page's authors, such as ``张三、李四`` or ``Ann Lee, Bo Li``, or None.

    Args:
        document: The parsed page; the names of its site are no authors.
        lines: The byline of the page.
        language: Language of the page; Chinese and Japanese names are joined by 、.
        said: Texts with the names, where a person says which these are.
    """
    tree, declared = document.tree, document.declared
    joint = "、" if language in ("zh", "ja") else ", "
    if said:
        return joint.join([x for name in said for x in clean_names(name) or [name]][:_MAX_NAMES])
    sites = site_names(declared, document.page.host) | brand_names(tree)
    # "News.example, Springfield" tells where the site is at home.
    metas = [x for x in declared.authors if plain_title(_SPLIT.split(x)[0]) not in sites]
    sources = chain(
        ([x for name in declared.data.authors for x in clean_names(name)],),
        visible_authors(lines),
        ([x for name in metas for x in clean_names(name)],),
        named_authors(tree, lines),
        _reporters(tree, lines),
    )
    own = ([x for x in names if plain_title(x) not in sites] for names in sources)
    # Where no person is named, the medium or agency that is declared as the author.
    found = next(filter(None, own), None) or [
        name
        for name in map(_trim, declared.data.makers)
        if 2 <= len(name) <= _MAX_NAME_CHARS and not _is_no_author(name) and _is_letters(name)
    ]
    joined = dict.fromkeys(found[:_MAX_NAMES])
    return joint.join(joined) or None


def visible_authors(lines: Byline) -> Iterator[list[str]]:
    """Yields the names behind labels such as 作者： in the byline, one list a line with a label."""
    for line, text in lines.matching(_HINT):
        match = _LABEL.search(text)
        if match:
            yield _names_behind(text[match.end() :], is_strict=False)
            continue
        may_name_reporter = not text.isascii() and (len(text) <= 40 or line < lines.first)
        match = _REPORTER.search(text) if may_name_reporter else None
        if match:
            yield _names_behind(text[match.end() :], is_strict=True)
        if line <= lines.first and line >= lines.title:
            match = _BY.match(text)
            if match:
                yield _names_behind(text[match.end() :], is_strict=False)
            match = _BEFORE_DATE.match(text)
            if match:
                yield clean_names(match["names"] or match["own"])


def named_authors(tree: Tree, lines: Byline) -> Iterator[list[str]]:
    """Yields the names in links and parts with ``rel``, ``itemprop`` or class name of an author."""
    anchors, anchor_of, texts = tree.anchors, tree.anchor_of, tree.texts
    for line in (*lines.above, *lines.inside[:1], *lines.behind[:_NEAR_LINES]):
        start, end = tree.line_runs(line)
        last = -1
        for i in anchor_of[start:end]:
            if i <= last or anchors[i].end - anchors[i].start > 3:
                continue
            last = i
            get = anchors[i].attributes.get
            if (
                get("rel") == "author"
                or get("itemprop") == "author"
                or names_author(get("class", ""))
                or "author" in get("rel", "").split()
            ):
                yield clean_names("".join(texts[anchors[i].start : anchors[i].end]))
        for _, attributes, run in lines.inlines.get(line, ()):
            if attributes.get("itemprop") == "author" or names_author(attributes.get("class", "")):
                # The label before the name often has its own element.
                is_label = run + 1 < end and clean_names(texts[run]) == []
                yield clean_names("".join(texts[run : run + 1 + is_label]))
        part = tree.line_blocks[line]
        names = tree.block_names[part]
        if names and names_author(names) and kind_of_part("", names) is not PartKind.COMMENT:
            linked = [texts[i] for i in range(start, end) if anchor_of[i] >= 0]
            found = [name for text in linked for name in clean_names(text)]
            yield found or clean_names(tree.line_text(line))


@lru_cache(maxsize=8192)
def names_author(names: str) -> bool:
    """Whether class names mark an author: ``post-author``, ``byline``, ``authorName``."""
    return _AUTHOR_NAMES.search(names[:_MAX_NAMES_CHARS]) is not None


def _reporters(tree: Tree, lines: Byline) -> Iterator[list[str]]:
    """Yields the names in brackets such as （记者 张三） at the ends of the body."""
    for line in lines.inside:
        text = tree.line_text(line)
        for part in (text[:120], text[-60:]):
            match = _BRACKETS.search(part) if "记者" in part or "記者" in part else None
            if match:
                yield _names_behind(match["names"], is_strict=True)


def clean_names(text: str) -> list[str]:
    """Returns the names in a text of names and roles alone (记者 张三 李四), else []."""
    text = " ".join(text[:200].split())
    if not text or len(text) > 120 or _NO_AUTHOR.match(text):
        return []
    text = _trim(_ROLES.sub("", _ADDRESS.sub(" ", text)))
    pieces = [x for x in _SPLIT.split(text) if x]
    names = [_trim(_INITIALS.sub("", x)) for piece in pieces for x in _split_wide(piece)]
    return [name for name in names if _is_name(name)]


def _trim(text: str) -> str:
    """A text without marks at its ends; ``Aoki (青木)`` keeps its bracket, ``(青木)`` does not."""
    while True:
        text = text.strip(_END_MARKS).lstrip(")）]】").rstrip("(（[【")
        closes, opens = _BRACKET_PAIRS.get(text[:1]), _BRACKET_PAIRS.get(text[-1:])
        if closes and text.find(closes) in (-1, len(text) - 1):
            text = text[1:]
        elif opens and opens not in text:
            text = text[:-1]
        else:
            return text


def _names_behind(text: str, is_strict: bool) -> list[str]:
    """The names at the beginning of a text; only Chinese names when ``is_strict``."""
    text = text[:_READ_CHARS]
    role = _ROLE_BEHIND.match(text)
    if role:
        text, is_strict = text[role.end() :], True
    end = _END.search(text)
    if end:
        if end[0] in ("摄", "攝"):
            return []  # a photographer
        text = text[: end.start()]
    split = _SPLIT_STRICT if is_strict else _SPLIT
    names: list[str] = []
    pieces = [
        x for piece in split.split(_ADDRESS.sub(" ", text).strip()) for x in _split_wide(piece)
    ]
    for piece in pieces[:_MAX_NAMES]:
        if (is_strict and not _NAME.fullmatch(piece)) or not _is_name(piece):
            break
        if names and piece.endswith(_PLACE_ENDS) and len(piece) > 2:
            break
        names.append(piece)
    return names


def _split_wide(text: str) -> list[str]:
    """The names in a text of Chinese names with spaces between or inside them: 张三 李 四."""
    words = text.split()
    if len(words) < 2 or not all(map(_WIDE.match, words)):
        return [text] if text else []
    names: list[str] = []
    is_open = False
    for word in words:
        if len(word) == 1 and is_open:
            names[-1] += word
            is_open = False
        else:
            names.append(word)
            is_open = len(word) == 1
    return names


def _is_name(text: str) -> bool:
    """Whether a text can be a person's name."""
    if not 2 <= len(text) <= _MAX_NAME_CHARS or len(text.split()) > _MAX_WORDS:
        return False
    if len(_WIDE.findall(text)) > _MAX_WIDE_CHARS:
        return False
    if _is_no_author(text):
        return False
    if _NO_NAME.search(text) or _DOMAIN.search(text) or text.lower().endswith(" staff"):
        return False
    if len(text.split()) > 2 and text[0].islower():
        return False
    return _is_letters(text)


def _is_letters(text: str) -> bool:
    """Whether a text is mostly letters, and no address."""
    return "/" not in text and sum(map(str.isalpha, text)) >= 0.6 * len(text.replace(" ", ""))


def _is_no_author(text: str) -> bool:
    """Whether a name is a placeholder, or a Chinese medium's, company's or office's: 人民日报社."""
    if text.lower() in word_list("no_authors"):
        return True
    words = word_list("organisation_words")
    if _WIDE.match(text) is None:
        return False
    if text.endswith(_ORGANISATION_ENDS) or any(text.endswith(word) for word in words):
        return True
    return len(text) > _LONE_NAME_CHARS and any(word in text for word in words)

"""JSON lines about topics: `topic`, `topics`, and what `why` adds for a URL.

The fields of a type are the fields of its line, and the docstring of the type is their
documentation (``docs/json.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from msgspec import UNSET, Struct, UnsetType

from crawlclean.storage.crawl_types import HostPoliteness, KeepRaw, Politeness, Scope
from crawlclean.storage.topic_types import TopicState
from crawlclean.workers.answers.notices import ReceiverLine

# JSON lines about the images of topics: `images`.


class TopicImage(Struct, frozen=True, kw_only=True):
    """A stored image, as one page shows it.

    Attributes:
        url: Its URL.
        page: URL of the page it was found on.
        caption: Its caption on the page; may be empty.
        alt: Its alt text; may be empty.
        media_type: ``image/jpeg``.
        width: In points; null when unknown.
        height: In points; null when unknown.
        bytes: Length of the file.
        sha256: Of the file.
        fetched_at: End of the response.
    """

    url: str
    page: str
    caption: str
    alt: str
    media_type: str
    width: int | None
    height: int | None
    bytes: int
    sha256: str
    fetched_at: datetime


class TopicPicture(Struct, frozen=True, kw_only=True):
    """A line of `images`: one picture of a topic, with its copies.

    Copies have equal bytes, or look the same: resized, recompressed, stamped, cut by some percent.

    Attributes:
        topic: Name of the topic.
        picture: Id of the picture, 15 hex digits; the least of its copies' ids.
        copies: How many stored images show it.
        largest: The image with the most points.
        others: The other images, larger ones first; only with `--copies`.
    """

    topic: str
    picture: str
    copies: int
    largest: TopicImage
    others: tuple[TopicImage, ...] | UnsetType = UNSET


class TopicImages(Struct, frozen=True, kw_only=True):
    """The images of a topic, in the line of `topic NAME --report`.

    Attributes:
        shown: URLs of images on its relevant pages.
        content: Those that a page shows as content; only these are requested.
        refused: The others by their kind on the last page that shows them: ``{"chrome": 120}``.
        stored: Stored images.
        pictures: Stored images without copies: pictures that look different.
    """

    shown: int
    content: int
    refused: dict[str, int]
    stored: int
    pictures: int


# JSON lines about near-duplicates: `stories`, `why`.


class ToldBy(Struct, frozen=True, kw_only=True):
    """A page that tells a story.

    Attributes:
        url: Its URL.
        host: Its host.
        at: When it was published, if that is known and less than 30 days before the fetch; else
            when it was fetched first.
        body_chars: Characters of its body.
    """

    url: str
    host: str
    at: datetime
    body_chars: int


class StoryLine(Struct, frozen=True, kw_only=True):
    """A story: the pages that tell the same text, perhaps edited, cut or framed by other lines.

    Attributes:
        story: Its id, 15 hex digits: ``4f1193a0c27be51``. When two stories prove to be one, the
            smaller id stays, and both lead to it.
        title: Title of its earliest page.
        url_count: Number of its URLs; of a large story at most 1,000 are read.
        host_count: Number of their hosts.
        earliest: The page that was seen or published first.
        longest: The page with the longest body.
        pages: All its pages, the earliest first; only for one story, and in a topic's report.
    """

    story: str
    title: str
    url_count: int
    host_count: int
    earliest: ToldBy
    longest: ToldBy
    pages: tuple[ToldBy, ...] | UnsetType = UNSET


class StoriesRebuilt(Struct, frozen=True, kw_only=True):
    """The result of `stories --rebuild`.

    Attributes:
        records: Records that were read.
        texts: Those of them whose text can tell a story.
        interrupted: Whether it was ended by Ctrl-C; the same command does the rest.
    """

    records: int
    texts: int
    interrupted: bool


class CrawlOptions(Struct, frozen=True, kw_only=True):
    """What a topic's crawl was ordered to do, by the options of all its runs.

    Attributes:
        seeds: Where it begins, normalized.
        scope: Which links are followed.
        max_pages: Records at which it ends; null: no limit.
        max_depth: Links from the nearest seed; null: no limit.
        include: Patterns of which one must match a followed URL, if there are any.
        exclude: Patterns of URLs that are not followed.
        delay_s: Seconds between a response and the next request to its host; null: as usual.
        slots: Requests at a time to a host whose delay is 0.
        trap_pages: Pages in a row without novelty that stop their URL class; 0 stops none.
        keep_raw: Which raw pages are kept.
        allow_private: Whether loopback and private addresses are fetched.
        images: Whether content images are fetched.
        keep_fresh: Whether pages are visited again when they are due.
        verify_tls: Whether hosts with a wrong certificate are refused.
        page_robots: Whether noindex and nofollow of pages and links are obeyed.
        politeness: Which hosts share a clock: ``host``: each has its own, ``ip``: those at one
            address.
        delay_factor: The pause is at least this many times the host's response time.
        hosts: Exceptions of the hosts file: pattern of hosts, delay and slots; what a hosts file
            sends to hosts is read again by each run.
    """

    seeds: tuple[str, ...]
    scope: Scope
    max_pages: int | None
    max_depth: int | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    delay_s: float | None
    slots: int
    trap_pages: int
    keep_raw: KeepRaw
    allow_private: bool
    images: bool
    keep_fresh: bool
    verify_tls: bool
    page_robots: bool
    politeness: Politeness
    delay_factor: float
    hosts: tuple[HostPoliteness, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLine:
    """A line of `topics`, of `topic NAME --show` and of a change of a topic.

    Attributes:
        topic: Name of the topic.
        version: Grows with every edit and every mark of a page.
        state: ``running``, ``paused`` or ``ended``.
        note: Why it waits or ended; may be empty.
        crawl: Name of its crawl.
        query: The query.
        synonyms: Groups of words that mean the same.
        excluded: Words that make a page irrelevant.
        examples: Names of the example pages, and of the pages that the user marked relevant.
        threshold: Relevance from which a page is relevant, 0..1.
        pages: Pages that were judged.
        relevant: Relevant pages among them.
        marked: Pages with a mark of the user.
        outdated: Pages that an older version judged, and that are judged anew in time.
        unread: Stored pages of other crawls that are still to be looked at, about.
        created_at: When the topic was created.
        receivers: Who is told of its new stories.
        pages_per_hour: Pages that its crawl shall spend an hour; null: hosts with worse links wait.
        options: The other options of its crawl; null before its first run.
    """

    topic: str
    version: int
    state: TopicState
    note: str
    crawl: str
    query: str
    synonyms: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...]
    examples: tuple[str, ...]
    threshold: float
    pages: int
    relevant: int
    marked: int
    outdated: int
    unread: int
    created_at: datetime
    receivers: tuple[ReceiverLine, ...] = ()
    pages_per_hour: float | None = None
    options: CrawlOptions | None = None


class PageToMark(Struct, frozen=True, kw_only=True):
    """A line of `topic NAME --to-mark`: a page whose mark teaches the topic most.

    Attributes:
        url: The page.
        title: Title of its record.
        host: Its host.
        relevance: 0..1; near the topic's threshold.
    """

    url: str
    title: str
    host: str
    relevance: float


class LinkWeight(Struct, frozen=True, kw_only=True):
    """A line of `topic NAME --weights`: what a feature of a link adds to its score.

    Attributes:
        name: The feature: ``host:example.com``, ``a:地震`` for a word of the anchor text.
        weight: Added to the logit of relevance; a positive one speaks for the link.
        sd: Standard deviation: how unsure the weight is.
    """

    name: str
    weight: float
    sd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HarvestStep:
    """What a topic's crawl found in a number of pages, one after the other.

    Attributes:
        pages: Pages that were judged.
        stories: Relevant pages that tell a story first: the harvest.
        copies: Relevant pages that tell a story again.
    """

    pages: int
    stories: int
    copies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDay(HarvestStep):
    """The harvest of one day of publication; of fetching where a page has no date.

    Attributes:
        day: The day in UTC: ``2026-11-23``.
    """

    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicHost(HarvestStep):
    """The harvest of one host.

    Attributes:
        host: Lower-case authority.
    """

    host: str


class FoundStory(Struct, frozen=True, kw_only=True):
    """A story of a topic: the relevant page that was fetched first, and who else tells it.

    Attributes:
        id: The same for every try: ``quake:4f1193a0c27be51d0c27be514f1193a0``; a receiver that
            has seen it drops the message. ASCII: of other names the bytes are ``%E5%9C%B0``.
        topic: Name of the topic.
        page_id: Id of the page, 32 hex digits.
        url: Its URL.
        host: Its host.
        title: Its title; may be empty.
        author: As the page has it; may be empty.
        relevance: 0..1.
        published_at: When it was published; null when unknown.
        fetched_at: End of the response.
        language: Of its body: ``zh``; may be empty.
        excerpt: The first 500 characters of its body and posts.
        body_chars: Characters of its body.
        words: Words of the query that stand on the page: those for which it is relevant.
        like: Terms of the page that are most like the examples, the heaviest first.
        story: Id of its story (`stories ID`); null while no other page tells it.
        copies: Other relevant pages of the topic that tell the story.
        also: Other URLs that tell the story by now, the earliest first, at most 20.
        picture: Id of a stored image of the page; null without one.
        mark: The user's word; null without.
        is_read: Whether somebody has read it in the console.
    """

    id: str
    topic: str
    page_id: str
    url: str
    host: str
    title: str
    author: str
    relevance: float
    published_at: datetime | None
    fetched_at: datetime
    language: str
    excerpt: str
    body_chars: int
    words: tuple[str, ...]
    like: tuple[str, ...]
    story: str | None
    copies: int
    also: tuple[str, ...]
    picture: str | None
    mark: bool | None
    is_read: bool


class TopicBudget(Struct, frozen=True, kw_only=True):
    """What a topic's crawl may spend, and what it has spent.

    Attributes:
        max_pages: Records at which it ends; null: no limit.
        pages: Pages of its crawl that were judged.
        pages_per_hour: Pages that it shall spend an hour; null: hosts with worse links wait.
        last_hour: Pages that were judged in the hour before the newest one.
    """

    max_pages: int | None
    pages: int
    pages_per_hour: float | None
    last_hour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicReport:
    """The line of `topic NAME --report`.

    Attributes:
        topic: The topic.
        made_at: When the report was made.
        stories: Relevant pages that tell a story first: the harvest.
        copies: Relevant pages that tell a story again.
        adopted: Judged pages that other crawls fetched.
        batches: Batches of pages that the learner of links has learned.
        waiting: URLs that wait in the queue; null while no process runs the crawl.
        budget: What its crawl may spend.
        harvest: The pages of its crawl in order, in steps of 100 pages; of more than 20,000 pages
            in 200 steps.
        days: Harvest by day of publication, oldest first.
        newest: The stories that were published last, newest first, at most 20; with `--day` those
            of the day, at most 1,000.
        reprints: The stories with the most relevant pages, at most 20, each with its earliest 20
            pages.
        hosts: Harvest by host, most stories first.
        images: Its images; left out when its crawl fetches none.
    """

    topic: TopicLine
    made_at: datetime
    stories: int
    copies: int
    adopted: int
    batches: int
    waiting: int | None
    budget: TopicBudget
    harvest: tuple[HarvestStep, ...]
    days: tuple[TopicDay, ...]
    newest: tuple[FoundStory, ...]
    reprints: tuple[StoryLine, ...]
    hosts: tuple[TopicHost, ...]
    images: TopicImages | UnsetType = UNSET


class FoundConcept(Struct, frozen=True, kw_only=True):
    """A concept of a query on a page.

    Attributes:
        name: The name that was found, else the concept's first; words that stand apart on the page
            have a space between them.
        share: What it adds to the query part, 0..1; 0: it is not on the page.
        in_title: Whether it stands in the title.
        count: Occurrences in the body.
    """

    name: str
    share: float
    in_title: bool
    count: int


class LinkPart(Struct, frozen=True, kw_only=True):
    """A feature of the link that led to a page, with its weight today.

    Attributes:
        name: The feature, as in `topic NAME --weights`.
        weight: Added to the logit of relevance.
    """

    name: str
    weight: float


class TopicVerdict(Struct, frozen=True, kw_only=True):
    """A line of `why`: what a topic holds of a page.

    Attributes:
        url: URL of the page.
        topic: Name of the topic.
        version: Version of the topic that judged.
        relevance: 0..1.
        threshold: Relevance from which a page is relevant.
        is_relevant: Whether the page counts as relevant; the user's mark wins.
        mark: The user's word; null without.
        query: The query part of the relevance, 0..1.
        examples: The example part, 0..1; null without examples.
        marks: What the user's marks add to the relevance of a page with these terms, -1..1; null
            without marks.
        concepts: The query's concepts, also those that are not on the page.
        terms: The terms that are most like the examples, the heaviest first.
        nearest: The nearest example; may be empty.
        excluded: Excluded words that made the page irrelevant.
        is_list: Whether it is an index page, which halved its relevance.
        link: What the link to the page is worth by today's weights, 0..1; null for a seed.
        link_parts: The features of the link with the largest weights.
        learned_in: Batch in which links were learned from the page; null: not yet, or never.
        fetched_by: The crawl that fetched the page.
    """

    url: str
    topic: str
    version: int
    relevance: float
    threshold: float
    is_relevant: bool
    mark: bool | None
    query: float
    examples: float | None
    marks: float | None
    concepts: tuple[FoundConcept, ...]
    terms: tuple[str, ...]
    nearest: str
    excluded: tuple[str, ...]
    is_list: bool
    link: float | None
    link_parts: tuple[LinkPart, ...]
    learned_in: int | None
    fetched_by: str


# What receivers of a topic are told: the body of a webhook's POST.


class StoryMessage(Struct, frozen=True, kw_only=True):
    """What `join housekeeper` sends to a webhook: one new relevant story.

    Attributes:
        type: ``topic.story``.
        timestamp: When the page was found relevant.
        data: The story.
    """

    type: str
    timestamp: datetime
    data: FoundStory

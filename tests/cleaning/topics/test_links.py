from itertools import chain

from crawlclean.cleaning.records import LinkKind, Via
from crawlclean.cleaning.topics.learner import LinkModel
from crawlclean.cleaning.topics.links import (
    MAX_FEATURES,
    AnchorWords,
    FoundLink,
    feature_groups,
    neighbours,
)

WORDS = AnchorWords(
    [[["新能源", "汽车"], ["电动车"]], [["补贴"]], [["java"]]],
    {"补贴": 2.0, "电池": 0.5},
    ["电池", "政策", "java"],
)


def link_features(link: FoundLink, words: AnchorWords) -> tuple[str, ...]:
    return tuple(chain.from_iterable(feature_groups(link, words)))


def features(text: str, **fields: object) -> tuple[str, ...]:
    link = FoundLink(url="http://a.test/news/2026/1.html", text=text, **fields)  # type: ignore[arg-type]
    return link_features(link, WORDS)


def test_a_link_has_the_concepts_the_words_and_the_place_of_its_url() -> None:
    found = features(
        "新能源汽车补贴政策",
        url_class="/news/#/*.html",
        finder="http://b.test/",
        finder_label=0.6,
        kind=LinkKind.RELATED,
        via=Via.SITEMAP,
    )
    assert found == (
        "bias",
        "query:2",
        "words:2",
        "finder:2",
        "kind:related",
        "via:sitemap",
        "other_host",
        "class:a.test/news/#/*.html",
        "dir:a.test/news/2026/",
        "host:a.test",
        "from:http://b.test/",
        "a:政策",
    )


def test_all_words_of_an_alternative_must_be_there() -> None:
    assert "query:1" in features("电动车")
    assert not [name for name in features("新能源") if name.startswith("query:")]


def test_latin_words_are_found_whole() -> None:
    assert "a:java" in features("学Java编程")
    assert "a:java" not in features("JavaScript")
    assert "a:java" not in features("rejava")


def test_a_text_in_a_script_that_the_topic_does_not_have_is_noted() -> None:
    def is_noted(text: str, *query: str) -> bool:
        words = AnchorWords([[list(query)]], {}, ["密码"])
        return "other_script" in link_features(FoundLink(url="http://a.test/", text=text), words)

    assert is_noted("Apache 的密码", "password")
    assert not is_noted("Passwords", "password")
    assert not is_noted("Apache 的密码", "password", "认证")
    assert not is_noted("Passwords", "密码")  # names are Latin in every language


def test_a_link_has_at_most_sixteen_features_with_ids_that_all_workers_know() -> None:
    words = [f"word{number}" for number in range(40)]
    anchor = AnchorWords([], {}, words)
    link = FoundLink(url="http://a.test/", text=" ".join(words), finder="http://b.test/")
    ids = LinkModel().with_words(words).ids(feature_groups(link, anchor))
    assert len(set(ids)) == len(ids) <= MAX_FEATURES
    assert all(0 <= number < 4096 for number in ids)
    without_vocabulary = LinkModel().ids(feature_groups(link, anchor))
    assert without_vocabulary == ids[: len(without_vocabulary)]


def test_words_in_the_path_of_a_url_count_apart_from_its_anchor_text() -> None:
    def of_path(url: str) -> list[str]:
        found = link_features(FoundLink(url=url, text="1"), WORDS)
        return [name for name in found if name.startswith("path:")]

    assert of_path("http://java.test/java_arrays.html") == ["path:query"]
    assert of_path("http://a.test/%E8%A1%A5%E8%B4%B4/1.html") == [
        "path:query",
        "path:words",
    ]  # 补贴
    assert of_path("http://java.test/javascript.html") == []


def test_a_link_to_another_host_is_noted() -> None:
    def is_noted(finder: str) -> bool:
        link = FoundLink(url="http://a.test/1.html", finder=finder)
        return "other_host" in link_features(link, WORDS)

    assert is_noted("http://a.test.example/")
    assert not is_noted("http://a.test/2.html")
    assert not is_noted("")


def test_signs_belong_to_latin_words() -> None:
    words = AnchorWords([[["c"]]], {}, [])
    assert words.match("C 语言").names == ("query:1",)
    assert words.match("C语言").names == ("query:1",)
    assert words.match("C++").names == ()
    assert words.match("c#").names == ()


def test_neighbours_with_words_of_the_topic_are_counted() -> None:
    texts = ["补贴", "a", "b", "电池 补贴", "c", "d"]
    near = [neighbours(texts, place) for place in range(len(texts))]
    assert near[2] == ("补贴", "a", "电池 补贴", "c")
    assert near[0] == ("a", "b")
    assert "near:2" in features("x", near=near[2])
    assert "near:1" in features("x", near=near[5])
    assert not [name for name in features("x", near=near[0]) if name.startswith("near:")]

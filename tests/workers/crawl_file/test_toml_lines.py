"""The lines of keys and elements in TOML, in every way of writing them."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given, settings, strategies as st

from crawlclean.workers.crawl_file.crawl_file import as_toml
from crawlclean.workers.crawl_file.toml_lines import find_lines

TEXT = '''\
# a = 1
a = "x # y"  # b = 2
"b" = [
  'one', # [c]
  "two, still", """
three = 3
""", { d = 4 },
]
e.f = """
g = "
""" # h

[hosts."x.example"]
i = { j = [1,
  2] }
[[k]]
l = 2.5
'''


def test_every_place_has_its_line() -> None:
    tomllib.loads(TEXT)
    assert find_lines(TEXT) == {
        ("a",): 2,
        ("b",): 3,
        ("b", 0): 4,
        ("b", 1): 5,
        ("b", 2): 5,
        ("b", 3): 7,
        ("e", "f"): 9,
        ("hosts", "x.example"): 13,
        ("hosts", "x.example", "i"): 14,
        ("k",): 16,
        ("k", "l"): 17,
    }
    assert find_lines(TEXT.replace("\n", "\r\n")) == find_lines(TEXT)


KEYS = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
VALUES = st.one_of(
    st.booleans(), st.integers(), st.text(max_size=9), st.lists(st.text()).map(tuple)
)


@settings(deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_the_lines_are_those_that_were_written(values: dict[str, Any]) -> None:
    text = "".join(f"{key} = {as_toml(value)}\n" for key, value in values.items())
    read = tomllib.loads(text)
    assert read == {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
    found = find_lines(text)
    assert [found[key,] for key in values] == list(range(1, len(values) + 1))

"""The packaged word lists of ``cleaning/data``: read once, never changed.

A list holds one entry a line; empty lines and lines that begin with ``#`` say where it comes from.
A table holds a name and a value with a tab between them.
"""

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=32)
def word_list(name: str) -> frozenset[str]:
    """The entries of ``data/<name>.txt``, lower case."""
    return frozenset(line.strip().lower() for line in _lines(name))


@lru_cache(maxsize=32)
def word_table(name: str) -> dict[str, str]:
    """The values of ``data/<name>.txt`` by their names."""
    rows = (line.partition("\t") for line in _lines(name))
    return {key: value for key, _, value in rows}


def _lines(name: str) -> list[str]:
    text = (files("cleaning") / "data" / f"{name}.txt").read_text("utf-8")
    return [line for line in text.split("\n") if line.strip() and not line.startswith("#")]

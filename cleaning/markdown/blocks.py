"""Blocks of Markdown one after another, with the marks of the quotes and items they lie in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quote:
    """A block quote; ``block`` tells it from others."""

    block: int


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the list ``of``; its number is None in a list with bullets."""

    block: int
    of: int
    number: int | None = None


Chain = tuple[Quote | Item, ...]
_MOST_NUMBER = 999_999_999  # CommonMark's own


class BlockWriter:
    """Joins blocks; each call of ``add`` is one."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._open: Chain = ()
        self._indents: list[str] = []  # of the rows behind the first, for each of the open ones
        self._is_other: dict[int, bool] = {}  # for each list whether it has the other sign
        self._was_paragraph = False

    def add(self, chain: Chain, rows: list[str], is_paragraph: bool = False) -> None:
        """Add a block.

        Args:
            chain: The quotes and items it lies in, from the outermost.
            rows: Its rows; none holds a line break.
            is_paragraph: Whether an item may follow it without a blank row.
        """
        self._was_paragraph, was_paragraph = is_paragraph, self._was_paragraph
        if not chain and not self._open:
            if self._rows:
                self._rows.append("")
            self._rows += rows
            return
        common = 0
        for one, other in zip(self._open, chain, strict=False):
            if one != other:
                break
            common += 1
        if self._rows and not (is_paragraph and was_paragraph and self._is_tight(chain, common)):
            self._rows.append("".join(self._indents[:common]).rstrip())
        signs = "".join(self._indents[:common])
        self._choose_signs(chain, common)
        del self._indents[common:]
        for part in chain[common:]:
            sign = self._sign(part)
            signs += sign
            self._indents.append(sign if isinstance(part, Quote) else " " * len(sign))
        indent = "".join(self._indents)
        self._rows.append((signs + rows[0]).rstrip())
        self._rows += [(indent + row).rstrip() for row in rows[1:]]
        self._open = chain

    def text(self) -> str:
        """All blocks."""
        return "\n".join(self._rows)

    def _is_tight(self, chain: Chain, common: int) -> bool:
        """Whether a block is an item that follows an item, or the text it belongs to, at once."""
        if common == len(chain):
            return False
        first = chain[common]
        if not isinstance(first, Item):
            return False
        if common < len(self._open):
            last = self._open[common]
            return isinstance(last, Item) and last.of == first.of
        # Only 1 may interrupt a paragraph.
        return common > 0 and isinstance(chain[common - 1], Item) and first.number in (None, 1)

    def _choose_signs(self, chain: Chain, common: int) -> None:
        """A list right behind another one of its kind has another sign: it is not the same."""
        for n, part in enumerate(chain[common:], common):
            if not isinstance(part, Item) or part.of in self._is_other:
                continue
            last = self._open[n] if n == common and n < len(self._open) else None
            self._is_other[part.of] = (
                isinstance(last, Item)
                and (last.number is None) == (part.number is None)
                and not self._is_other[last.of]
            )

    def _sign(self, part: Quote | Item) -> str:
        if isinstance(part, Quote):
            return "> "
        is_other = self._is_other[part.of]
        if part.number is None:
            return "* " if is_other else "- "
        return f"{min(part.number, _MOST_NUMBER)}{')' if is_other else '.'} "

"""Which conditions of the rules for links carry over to hosts that they were not made from.

Every ``if``, conditional expression and operand of ``and``/``or`` in ``MODULES`` is a *condition*
that can be switched off: an operand of ``and`` asks nothing then, all others never hold. A
condition *helps* a host when switching it off makes more errors there, in kinds of links or in
related links, and *harms* it when it makes fewer.

*Leave one host out*: on each host those conditions are switched off that do not help more other
hosts than they harm. What is left of a figure is what other hosts vouch for.

The modules are rewritten while they are imported, so this file is a program of its own:
``python -m benchmarks.robust.conditions`` prints its result as JSON.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

MODULES = (
    "crawlclean.cleaning.features.parts",
    "crawlclean.cleaning.features.sections",
    "crawlclean.cleaning.links.evidence",
    "crawlclean.cleaning.links.kinds",
    "crawlclean.cleaning.links.lists",
)
_LEAST_HOSTS = 3  # that a rule decides rightly
_SWITCH = "_condition_holds"
# What a rule raises when a condition that guards it is off.
_FAILURES = (IndexError, AttributeError, TypeError, ValueError, KeyError, RecursionError)


class Switches:
    """Which conditions are off, and which made a difference since ``changed`` was emptied."""

    def __init__(self) -> None:
        self.off: frozenset[int] = frozenset()
        self.changed: set[int] = set()
        self.sources: list[str] = []

    def holds(self, number: int, neutral: bool, value: object) -> object:
        """Returns the value of a condition, or its neutral value when it is off."""
        if bool(value) is not neutral:
            if number in self.off:
                return neutral
            self.changed.add(number)
        return value


class _Rewriter(ast.NodeTransformer):
    """Puts every condition of a module into a call of the switch."""

    def __init__(self, module: str, switches: Switches) -> None:
        self._module, self._switches = module, switches

    def _switched(self, test: ast.expr, neutral: bool) -> ast.expr:
        sources = self._switches.sources
        sources.append(f"{self._module}:{test.lineno}: {ast.unparse(test)[:90]}")
        name = ast.Name(_SWITCH, ast.Load())
        call = ast.Call(name, [ast.Constant(len(sources) - 1), ast.Constant(neutral), test], [])
        return ast.copy_location(call, test)

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.test, ast.BoolOp):
            node.test = self._switched(node.test, False)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.test, ast.BoolOp):
            node.test = self._switched(node.test, False)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        node.values = [
            value
            if isinstance(value, (ast.BoolOp, ast.NamedExpr))
            else self._switched(value, neutral)
            for value in node.values
        ]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        # A cache would give the answer of the condition that was on before.
        node.decorator_list = [
            each for each in node.decorator_list if not (_is_cache(each) and node.args.args)
        ]
        return self.generic_visit(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        node.body = [self.visit(each) for each in node.body]  # its own test ends it
        return node


def _is_cache(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "lru_cache"


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, switches: Switches) -> None:
        super().__init__(name, path)
        self._switches = switches

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_source(fullname) or ""
        tree = _Rewriter(fullname, self._switches).visit(ast.parse(source))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[_SWITCH] = self._switches.holds
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, switches: Switches) -> None:
        self._switches = switches

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in MODULES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin, self._switches)
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=loader)


def measure() -> dict[str, Any]:
    """Returns the errors of each condition by host, and the figures leaving one host out."""
    switches = Switches()
    sys.meta_path.insert(0, _Finder(switches))
    from benchmarks.robust import link_pages  # after the finder is in place

    pages = link_pages.read_pages()
    gains: dict[int, Counter[str]] = defaultdict(Counter)
    varied: dict[str, set[int]] = defaultdict(set)
    broken: set[int] = set()
    for page in pages:
        switches.off, switches.changed = frozenset(), set()
        read = link_pages.lists_of(page)
        before = link_pages.errors(page, link_pages.kinds_of(page, read))
        for number in sorted(switches.changed):
            switches.off = frozenset((number,))
            try:
                known = _still_known(switches.sources[number], page, read)
                after = link_pages.errors(page, link_pages.kinds_of(page, known))
            except _FAILURES:
                broken.add(number)
                continue
            if after != before:
                varied[page.host].add(number)
                gains[number][page.host] += after - before
    for number in broken:
        gains.pop(number, None)
    return {
        "conditions": len(switches.sources),
        "deciding on fewer than three hosts": _few(gains, switches.sources),
        **_left_out(pages, switches, gains, varied),
    }


def _still_known(source: str, page: Any, read: Any) -> Any:
    """What was read of a page that does not depend on a condition: the product reads in steps."""
    from benchmarks.robust import link_pages  # after the finder is in place

    if source.startswith("crawlclean.cleaning.links.kinds:"):
        return read
    if source.startswith("crawlclean.cleaning.links.evidence:"):
        return None
    return link_pages.lists_of(page, read[0])


def _few(gains: Mapping[int, Counter[str]], sources: Sequence[str]) -> list[str]:
    found = []
    for number, by_host in sorted(gains.items()):
        helped = [host for host, gain in by_host.items() if gain > 0]
        harmed = [host for host, gain in by_host.items() if gain < 0]
        if len(helped) < _LEAST_HOSTS:
            gain = sum(by_host.values())
            found.append(f"{sources[number]} | helps {len(helped)}, harms {len(harmed)}, {gain:+}")
    return found


def _left_out(
    pages: Sequence[Any],
    switches: Switches,
    gains: Mapping[int, Counter[str]],
    varied: Mapping[str, set[int]],
) -> dict[str, Any]:
    from benchmarks.robust import link_pages  # after the finder is in place

    plain, left, rows = [], [], {}
    for page in pages:
        switches.off = frozenset()
        plain.append((page, link_pages.kinds_of(page)))
        switches.off = frozenset(
            number
            for number in varied[page.host]
            if number in gains and not _is_vouched(gains[number], page.host)
        )
        try:
            left.append((page, link_pages.kinds_of(page)))
        except _FAILURES:
            left.append(plain[-1])
        rows[page.host] = sorted(switches.sources[number] for number in switches.off)
    return {
        "plain": link_pages.figures(plain),
        "one host left out": link_pages.figures(left),
        "off": {host: off for host, off in rows.items() if off},
    }


def _is_vouched(gains: Counter[str], host: str) -> bool:
    """Whether a condition helps more hosts other than this one than it harms."""
    signs = [(gain > 0) - (gain < 0) for other, gain in gains.items() if other != host]
    return sum(signs) > 0


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(), ensure_ascii=False) + "\n")

"""What of a robots.txt concerns us: our groups, the sitemaps, no more patterns than can be tried.

A parser keeps every rule of a group once for every name the group is for: 20,000 names and as many
rules in half a megabyte would be 400 million rules. Only names that can be ours are left, so the
rules that are stored and parsed for every URL are few.
"""

from __future__ import annotations

import re

MAX_PATTERNS = 5000  # rules with * or $, each tried on every URL; a plain rule costs nothing
NAME = re.compile(r"\s*+user[- ]?agent\b\s*+:?+([^#]*+)", re.I)
ANY_GROUP = re.compile(r"\s*+(?:sitemaps?|site-map|host)\b", re.I)
RULE = re.compile(
    r"\s*+(?:dis+al+ow|diasllow|disallaw|allow|(?:crawl|request|visit)[- ](?:delay|rate|time))\b",
    re.I,
)


def rules_for(text: str, name: str) -> str:
    """The lines of a robots.txt that a parser needs to answer for us.

    Args:
        text: The whole file.
        name: Our product token.
    """
    name = name.lower()
    kept: list[str] = []
    names: set[str] = set()  # of the group at hand, those that may be ours
    patterns = 0
    in_names = False
    for line in text.splitlines():
        asked = NAME.match(line)
        if asked:
            if not in_names:
                names = set()
            in_names = True
            value = asked[1].strip().lower()
            if value != "*":
                value = value.replace("*", "")  # no name of ours holds one
            if value and value not in names and (value == "*" or value in name):
                names.add(value)
                kept.append(f"User-agent: {value}")
        elif ANY_GROUP.match(line):
            kept.append(line)
        elif RULE.match(line) or ":" in line.partition("#")[0]:
            in_names = False
            is_pattern = "*" in line or "$" in line
            patterns += is_pattern and bool(names)
            if names and not (is_pattern and patterns > MAX_PATTERNS):
                kept.append(line)
    return "".join(f"{line}\n" for line in kept)

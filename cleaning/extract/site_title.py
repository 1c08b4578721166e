"""The title of a page without the site's name, which its host taught."""

from __future__ import annotations

from cleaning.site_rules import Template

_LEAST_CHARS = 2  # of what is left


def cut_site_name(title: str, template: Template) -> str:
    """A title without the longest end and beginning that other titles of the host have.

    It stays whole where nothing of its own would be left.
    """
    for suffix in sorted(template.title_suffixes, key=lambda each: -len(each.text)):
        if title.endswith(suffix.text) and len(title) - len(suffix.text) >= _LEAST_CHARS:
            title = title[: -len(suffix.text)].rstrip()
            break
    for prefix in sorted(template.title_prefixes, key=lambda each: -len(each.text)):
        if title.startswith(prefix.text) and len(title) - len(prefix.text) >= _LEAST_CHARS:
            title = title[len(prefix.text) :].lstrip()
            break
    return title

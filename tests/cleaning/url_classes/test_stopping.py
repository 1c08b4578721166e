"""When a class of URLs is stopped: what holds for pages of every kind and order."""

from __future__ import annotations

from hypothesis import given, strategies as st

from crawlclean.cleaning.url_classes.stopping import (
    GROUP_ROWS,
    MOST_ACCOUNTS,
    MOST_CLASSES,
    MOST_DULL,
    Account,
    Known,
    PageYield,
    Verdict,
    asked_of,
    judge,
)

LIMIT = 2
NOTHING = Known(accounts={}, stopped=(), fingerprints=(), size=0)
CLASSES = tuple((f"/{name}/*", f"/{name}/**", "/**") for name in "abc")


@st.composite
def _pages(draw: st.DrawFn) -> PageYield:
    own = draw(st.sampled_from(CLASSES))
    others = draw(st.lists(st.sampled_from(CLASSES), max_size=2, unique=True))
    return PageYield(
        patterns=draw(st.sampled_from([own, own, ()])),
        text=draw(st.one_of(st.none(), st.integers(1, 4))),
        bare=draw(st.one_of(st.none(), st.integers(11, 12))),
        address=draw(st.integers(21, 26)),
        finder=draw(st.integers(21, 26)),
        variant=draw(st.integers(31, 34)),
        has_query=draw(st.booleans()),
        found=tuple(other for other in others if other != own),
        found_own=draw(st.booleans()),
    )


PAGES = st.lists(_pages(), max_size=30)


def after(known: Known, verdict: Verdict) -> Known:
    """What is known after a verdict was kept."""
    return Known(
        accounts={**known.accounts, **verdict.accounts},
        stopped={*known.stopped, *verdict.stopped} - verdict.lifted,
        fingerprints={*known.fingerprints, *verdict.fingerprints},
        size=len({**known.accounts, **verdict.accounts}),
    )


@given(PAGES, st.integers(0, 30))
def test_how_pages_are_parted_into_jobs_changes_nothing(pages: list[PageYield], cut: int) -> None:
    first = after(NOTHING, judge(NOTHING, pages[:cut], LIMIT))
    parted = after(first, judge(first, pages[cut:], LIMIT))
    assert parted == after(NOTHING, judge(NOTHING, pages, LIMIT))


@given(PAGES)
def test_what_was_not_asked_for_changes_nothing(pages: list[PageYield]) -> None:
    known = after(NOTHING, judge(NOTHING, pages, LIMIT))
    patterns, fingerprints = asked_of(pages[:5])
    asked = Known(
        accounts={each: known.accounts[each] for each in patterns if each in known.accounts},
        stopped={each for each in patterns if each in known.stopped},
        fingerprints={each for each in fingerprints if each in known.fingerprints},
        size=known.size,
    )
    assert judge(asked, pages[:5], LIMIT) == judge(known, pages[:5], LIMIT)


@given(PAGES)
def test_a_stop_has_its_row_and_a_row_has_no_news(pages: list[PageYield]) -> None:
    known = NOTHING
    for page in pages:
        verdict = judge(known, [page], LIMIT)
        for pattern in verdict.stopped:
            own = after(known, verdict).accounts[pattern]
            if pattern.endswith("**"):
                assert own.barren >= 4 * LIMIT * GROUP_ROWS
            elif pattern == page.patterns[0]:
                assert own.barren >= 4 * LIMIT / 2
            else:
                assert own.dull >= MOST_DULL, "fed by a class that was stopped"
        assert verdict.lifted <= set(page.patterns)
        for pattern, account in verdict.accounts.items():
            before = known.accounts.get(pattern, Account())
            assert account.pages == before.pages + 1
            assert (account.with_news > before.with_news) <= (account.barren == 0)
        known = after(known, verdict)
        assert all(
            known.accounts[each].barren or known.accounts[each].dull for each in known.stopped
        )


@given(PAGES)
def test_pages_with_texts_of_their_own_are_never_stopped(pages: list[PageYield]) -> None:
    own = [
        PageYield(
            patterns=page.patterns,
            text=100 + n,
            address=page.address,
            finder=page.finder,
            variant=page.variant,
            found_own=True,
        )
        for n, page in enumerate(pages)
    ]
    assert judge(NOTHING, own, 1).stopped == {}


def test_accounts_are_bounded_and_groups_have_room_left() -> None:
    page = PageYield(patterns=CLASSES[0], text=1, address=2, finder=3, variant=4)
    of_classes = Known(accounts={}, stopped=(), fingerprints=(), size=MOST_CLASSES)
    assert set(judge(of_classes, [page], LIMIT).accounts) == {"/a/**", "/**"}
    full = Known(accounts={}, stopped=(), fingerprints=(), size=MOST_ACCOUNTS)
    assert judge(full, [page], LIMIT).accounts == {}

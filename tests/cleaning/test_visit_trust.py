from __future__ import annotations

from crawlclean.cleaning.revisits import (
    DISTRUST_S,
    SAMPLE,
    HostTrust,
    Lastmod,
    after_page,
    after_response,
    after_sitemap,
    is_lie,
    read_lastmod,
)
from tests.kit.some import some

DAY = 86_400
NOW = 20_000 * DAY


def dates(count: int, *, moved: int = 0) -> dict[str, Lastmod]:
    """Dates on as many days; the first ``moved`` are of yesterday."""
    days = [NOW - DAY - n if n < moved else NOW - (n + 2) * DAY for n in range(count)]
    return {f"{n:032x}": Lastmod(day, day) for n, day in enumerate(days)}


def visits(trust: HostTrust, changed: range, same: range) -> HostTrust:
    for numbers, is_changed in ((changed, True), (same, False)):
        for n in numbers:
            trust = after_page(trust, f"{n:032x}", NOW + 60, DAY, is_changed=is_changed)
    return trust


def test_true_dates_are_used_after_they_are_proven() -> None:
    trust = after_sitemap(HostTrust(), dates(100), NOW)
    assert not trust.may_skip(NOW)
    assert not trust.may_hurry(NOW)
    trust = after_sitemap(trust, dates(100, moved=10), NOW)
    trust = visits(trust, range(5), range(5, 40))
    assert (trust.moved_changed, trust.moved_same, trust.still_same) == (5, 5, 30)
    assert trust.may_skip(NOW)
    assert trust.may_hurry(NOW)
    # a visit takes the mark of the moved date away
    again = visits(trust, range(0), range(5))
    assert again.moved_same == trust.moved_same


def test_unannounced_changes_end_skipping_and_empty_announcements_hurrying() -> None:
    trust = after_sitemap(HostTrust(), dates(200), NOW)
    trust = visits(trust, range(3), range(3, 40))
    assert not trust.may_skip(NOW)
    trust = after_sitemap(trust, dates(200, moved=10), NOW)
    assert not visits(trust, range(2), range(2, 10)).may_hurry(NOW)


def test_lies_are_noticed_and_forgotten_after_a_month() -> None:
    same = {f"{n:032x}": Lastmod(NOW - 9, NOW - 9) for n in range(20)}
    near = {f"{n:032x}": Lastmod(NOW - n, NOW - n) for n in range(20)}
    assert is_lie(same, NOW + 99 * DAY)
    assert is_lie(near, NOW)
    assert not is_lie(near, NOW + DAY)
    assert not is_lie(dict(list(same.items())[:5]), NOW)
    proven = HostTrust(still_same=100, moved_changed=100)
    caught = after_sitemap(proven, same, NOW)
    assert not caught.may_skip(NOW)
    assert caught.liar_until == NOW + DISTRUST_S
    assert not visits(caught, range(10), range(10, 90)).may_hurry(NOW)


def test_the_sample_is_bounded_and_the_same_for_every_order() -> None:
    many = dates(1_000)
    forwards = after_sitemap(HostTrust(), many, NOW)
    backwards = after_sitemap(HostTrust(), dict(reversed(many.items())), NOW)
    assert forwards == backwards
    assert len(forwards.sample) == SAMPLE
    assert after_page(forwards, "f" * 32, NOW, DAY, is_changed=True) is forwards
    # a change after the sitemap was read could not be announced
    assert after_page(forwards, "0" * 32, NOW + DAY / 2, DAY, is_changed=True) is forwards


def test_false_conditions_are_left_out_for_a_month() -> None:
    trust = after_response(HostTrust(), NOW, is_changed=True, is_equal=True)
    assert not trust.may_condition(NOW + 29 * DAY, 0)
    assert trust.may_condition(NOW + 31 * DAY, 0)


def test_conditions_are_proven_by_changes_or_by_many_checks() -> None:
    def allowed(trust: HostTrust) -> int:
        return sum(trust.may_condition(NOW, n) for n in range(8))

    trust, checked = HostTrust(), HostTrust()
    assert allowed(trust) == 4
    for _ in range(3):
        trust = after_response(trust, NOW, is_changed=True, is_equal=False)
    for _ in range(50):
        checked = after_response(checked, NOW, is_changed=False, is_equal=True)
    assert allowed(trust) == allowed(checked) == 7
    assert after_response(trust, NOW, is_changed=True, is_equal=False) is trust  # nothing to store
    assert allowed(after_response(trust, NOW, is_changed=True, is_equal=True)) == 0


def test_dates_are_read_as_written() -> None:
    second = some(read_lastmod("2026-03-01T12:00:00+08:00"))
    assert second.first_s == second.last_s
    day = some(read_lastmod("2026-03-01"))
    assert day.last_s - day.first_s == 2 * DAY
    for text in (None, "", "yesterday", "2026-13-01", "0001-01-01T00:00:00+14:00"):
        assert read_lastmod(text) is None or text == "0001-01-01T00:00:00+14:00"

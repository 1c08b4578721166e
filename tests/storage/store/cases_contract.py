"""What every store must do with reported verdicts; see ``store_contract.py``."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from storage.store.cases import Case, CasePage, CaseSubject, case_id_of
from storage.store.codec import to_microseconds
from storage.store.protocol import Store
from tests.kit.outcomes import HOST, T0

PAGE = CasePage(
    url=f"https://{HOST}/a",
    fetched_at=T0,
    content_type="text/html; charset=gbk",
    body="<p>首页".encode("gbk") + b"\0\xff",
    model="",
    found='{"title":"\\ud83d\\ude00"}',
)


def make_case(place: int, page: CasePage = PAGE, minutes: int = 0, crawl: str = "c1") -> Case:
    page_id = f"{1:032x}"
    return Case(
        case_id=case_id_of(page_id, page.digest, CaseSubject.TEXT, place),
        page_id=page_id,
        crawl_id=crawl,
        host=HOST,
        url=page.url,
        subject=CaseSubject.TEXT,
        place=place,
        text="首页 <script>",
        start=12,
        chars=2,
        was="navigation",
        rule="link_list",
        wanted="body",
        note="it is a heading\u202e",
        who="session 4f11",
        at=T0 + timedelta(minutes=minutes),
        digest=page.digest,
    )


class CasesContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_cases_come_back_equal_with_their_pages(self, store: Store) -> None:
        assert store.cases.read() == []
        assert store.cases.get("0" * 16) is None
        assert store.cases.page("0" * 16) is None
        modelled = replace(PAGE, model='{"host":"a"}')
        first, second = make_case(0), make_case(0, modelled, minutes=1)
        store.cases.put(first, PAGE)
        store.cases.put(second, modelled)
        assert store.cases.read() == [second, first]
        assert store.cases.get(first.case_id) == first
        assert store.cases.page(first.case_id) == PAGE
        assert store.cases.page(second.case_id) == modelled
        assert store.cases.of_page(first.page_id) == [first, second]
        assert store.cases.of_page("0" * 32) == []

    def test_a_report_of_the_same_part_replaces_the_first(self, store: Store) -> None:
        store.cases.put(make_case(3), PAGE)
        again = replace(make_case(3, minutes=2), wanted="not_body", note="")
        store.cases.put(again, PAGE)
        assert store.cases.read() == [again]
        assert store.cases.count() == 1
        assert store.cases.delete(again.case_id)
        assert not store.cases.delete(again.case_id)
        assert store.cases.read() == []

    def test_cases_are_read_in_parts_the_newest_first(self, store: Store) -> None:
        cases = [make_case(n, minutes=n) for n in range(5)]
        for case in cases:
            store.cases.put(case, PAGE)
        first = store.cases.read(limit=2)
        assert first == [cases[4], cases[3]]
        rest = store.cases.read(to_microseconds(first[-1].at), limit=9)
        assert rest == [cases[2], cases[1], cases[0]]

    def test_cases_go_with_their_crawl_and_host(self, store: Store) -> None:
        other = replace(make_case(1, crawl="c2"), host="b.example")
        for case in (make_case(0), other):
            store.cases.put(case, PAGE)
        store.delete_host("c2", HOST)
        assert store.cases.count() == 2
        store.delete_crawl("c1")
        assert store.cases.read() == [other]
        store.delete_host("c2", "b.example")
        assert store.cases.count() == 0

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import cleaning
from cleaning import ConfigError
from cleaning.ownership import check_ownership


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write(place: Path, name: str, text: str) -> Path:
    (place / name).mkdir()
    file = place / name / "__init__.py"
    file.write_text(text, "utf-8")
    return file


def test_our_own_package_passes() -> None:
    check_ownership(["cleaning"])


def test_a_marked_package_passes_and_is_not_imported(place: Path) -> None:
    write(place, "marked_package", '"""x"""\n\n__dist__ = "crawlclean"\nraise RuntimeError\n')
    check_ownership(["marked_package"])
    assert "marked_package" not in sys.modules


@pytest.mark.parametrize("text", ["", '__dist__ = "other"\n', '# __dist__ = "crawlclean"\n'])
def test_a_foreign_package_is_named(place: Path, text: str) -> None:
    file = write(place, "foreign_package", text)
    with pytest.raises(ConfigError) as caught:
        check_ownership(["cleaning", "foreign_package"])
    assert str(file) in str(caught.value)


def test_a_folder_without_init_is_foreign(place: Path) -> None:
    (place / "bare_package").mkdir()
    with pytest.raises(ConfigError, match="bare_package"):
        check_ownership(["bare_package"])


def test_our_overwritten_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(cleaning, "__dist__")
    with pytest.raises(ConfigError, match=r"'cleaning' is not ours but .*__init__"):
        check_ownership()


def test_a_missing_package_is_an_error() -> None:
    with pytest.raises(ConfigError, match="missing"):
        check_ownership(["no_such_package_anywhere"])

"""Parts of the stack that need no podman."""

from __future__ import annotations

from pathlib import Path

from crawlclean import RawPage, clean, learn_site
from tests.chaos.rest import AS_WANTED
from tests.stack import images
from tests.stack.machines import news_sites
from tests.stack.podman import Podman
from tests.stack.project import BASE, Project

PAGES, LEARNED_OF = 60, 40


def test_a_learned_model_changes_no_record_of_the_sites() -> None:
    """What is stored is compared with pages cleaned alone."""
    [site] = news_sites(PAGES, 1, 1)
    pages = [
        RawPage.from_bytes(f"http://a.test{path}", str(page["body"]).encode(), "text/html")
        for path, page in site.items()
        if isinstance(page, dict)
    ]
    assert len(pages) == PAGES
    model = learn_site(pages[:LEARNED_OF])
    for page in pages:
        alone, learned = clean(page), clean(page, model)
        assert [getattr(alone, n) for n in AS_WANTED] == [getattr(learned, n) for n in AS_WANTED]


def test_every_image_of_the_default_services_is_built() -> None:
    built = {"redis", "mongo"} | {"worker", "rq-dashboard"}
    without = {"prometheus", "alertmanager", "grafana"}
    made = {images.names()[name] for name in built}
    assert {image for name, image in images.names().items() if name not in without} == made
    assert images.python_image().startswith("python:3.")


def test_a_project_is_the_repositorys_deployment(tmp_path: Path) -> None:
    project = Project(Podman(tmp_path, None, ""), Path("/tools"), {})
    names = ("restore.sh", "backup.sh", "redis-users.acl")
    assert [(project.folder / "deploy" / name).exists() for name in names] == [True] * 3
    text = (project.folder / BASE).read_text("utf-8")
    assert text == images.COMPOSE.read_text("utf-8")
    assert project.command[-4:] == ["-f", BASE, "-f", "override.yml"]

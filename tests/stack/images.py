"""Images of the stack: our two from ``deploy/Dockerfile``, and stand-ins for those of others.

The base in place of python:3.11-slim is a Debian 12 with the Python that runs this program; Redis
comes from Debian 13, whose Redis is nearer to the one of the compose file.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import yaml

from tests.kit.crawls import ROOT
from tests.machines.namespaces import call
from tests.stack.podman import Podman

STANDINS = Path(__file__).with_name("standins")
COMPOSE = ROOT / "docker-compose.yml"
BUILD_LIMIT_S = 1200.0
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# Libraries that Python's modules need.
LIBRARIES = (
    "ca-certificates,libssl3,libffi8,libsqlite3-0,libbz2-1.0,liblzma5,zlib1g,libreadline8,"
    "libncursesw6,libuuid1,libexpat1"
)
LEFT_OUT = ("test", "site-packages", "__pycache__", "idlelib", "tkinter", "include", "share")
OLDEST = (3, 11, 3)  # deploy/dashboard.lock lacks what older ones need
Say = Callable[[str], None]


def names() -> dict[str, str]:
    """Image of every service of the compose file: ``{"redis": "redis:8.2-bookworm", ...}``."""
    services = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    return {name: service["image"] for name, service in services.items()}


def python_image() -> str:
    """The base that the Dockerfile names, without its digest."""
    found = re.search(
        r"^ARG PYTHON_IMAGE=([^@\s]+)", (ROOT / "deploy/Dockerfile").read_text(), re.M
    )
    assert found is not None
    return found[1]


def build(podman: Podman, upgraded: str, say: Say) -> dict[str, str]:
    """Builds what is not built yet; what each image is made of, by its name.

    Args:
        podman: Without a network of its own: packages come from PyPI and Debian.
        upgraded: Tag of a second image of ours, which differs in a label alone.
        say: Gets a line of progress for every image.
    """
    assert sys.version_info >= OLDEST, f"needs Python {OLDEST}"
    images, base = names(), python_image()
    if not _has(podman, base):
        say("base: Debian 12 with this Python")
        _debian(podman, "bookworm", LIBRARIES, base, with_python=True)
    if not _has(podman, "debian-redis:13"):
        say("redis: Debian 13 with its Redis")
        _debian(podman, "trixie", "redis-server", "debian-redis:13", with_python=False)
    app, dashboard = images["worker"], images["rq-dashboard"]
    say(f"{images['redis']} and {images['mongo']}: stand-ins")
    _build(podman, "redis", images["redis"], ["BASE=debian-redis:13"])
    secantus = version("secantusdb")
    _build(podman, "mongo", images["mongo"], [f"BASE={base}", f"SECANTUSDB={secantus}"])
    for target, name in (("app", app), ("dashboard", dashboard)):
        say(f"{name}: deploy/Dockerfile, target {target}")
        words = ("--target", target, "--tag", name, "--file", "deploy/Dockerfile", str(ROOT))
        podman.run([*_call(podman), *words], limit_s=BUILD_LIMIT_S, folder=ROOT)
    _build(podman, "upgrade", upgraded, [f"BASE={app}"])
    redis = podman("run", "--rm", "--network=none", images["redis"], "redis-server", "--version")
    python = podman("run", "--rm", "--network=none", base, "python", "--version")
    return {
        images["redis"]: " ".join(redis.split()[:3]).replace("v=", ""),
        images["mongo"]: f"SecantusDB {secantus}",
        base: f"{python.strip()} on Debian 12",
        app: "deploy/Dockerfile",
        dashboard: "deploy/Dockerfile",
        upgraded: f"{app} with a label",
    }


def _has(podman: Podman, image: str) -> bool:
    return bool(podman("images", "--quiet", image).strip())


def _call(podman: Podman) -> list[str]:
    # Docker's format: the other has no health checks.
    return [str(podman.program), "build", "--network=host", "--format", "docker"]


def _build(podman: Podman, standin: str, image: str, arguments: Sequence[str]) -> None:
    given = [word for argument in arguments for word in ("--build-arg", argument)]
    file = STANDINS / f"{standin}.Containerfile"
    words = [*given, "--file", str(file), "--tag", image, str(STANDINS)]
    podman.run([*_call(podman), *words], limit_s=BUILD_LIMIT_S)


def _debian(podman: Podman, suite: str, packages: str, image: str, *, with_python: bool) -> None:
    with tempfile.TemporaryDirectory(dir=podman.folder) as folder:
        root = Path(folder) / "root"
        try:
            call(
                *("debootstrap", "--variant=minbase", f"--include={packages}", suite, str(root)),
                limit_s=BUILD_LIMIT_S,
            )
        finally:
            if (root / "proc").is_mount():
                call("umount", str(root / "proc"))  # else its removal would reach ours
        if with_python:
            _copy_python(root)
        archive = Path(folder) / "root.tar"
        left_out = ("./proc", "./sys", "./dev", "./var/cache/apt", "./var/lib/apt/lists")
        words = [f"--exclude={each}" for each in left_out]
        call("tar", "-C", str(root), *words, "-cf", str(archive), ".", limit_s=BUILD_LIMIT_S)
        certificates = f"ENV PIP_CERT={CERTIFICATES}"
        podman("import", "--change", certificates, str(archive), image, limit_s=BUILD_LIMIT_S)


def _copy_python(root: Path) -> None:
    """Puts the Python that runs this into ``/usr/local``, and the certificates that it trusts."""
    source, target = Path(sys.base_prefix), root / "usr/local"
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for place in (f"lib/{name}", "lib"):
        shutil.copytree(
            source / place,
            target / place,
            symlinks=True,
            dirs_exist_ok=True,
            ignore=(
                shutil.ignore_patterns(*LEFT_OUT, "*.a")
                if place != "lib"
                else lambda _, found: [each for each in found if not each.startswith("libpython")]
            ),
        )
    (target / "lib" / name / "site-packages").mkdir(exist_ok=True)
    shutil.copy2((source / "bin" / name).resolve(), target / "bin" / name)
    for link in ("python", "python3"):
        (target / "bin" / link).unlink(missing_ok=True)
        (target / "bin" / link).symlink_to(name)
    if CERTIFICATES.exists():
        shutil.copy2(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    call("chroot", str(root), "ldconfig")
    modules = "import ssl, sqlite3, ctypes, lzma, bz2, zlib, ensurepip"
    call("chroot", str(root), f"/usr/local/bin/{name}", "-c", modules)

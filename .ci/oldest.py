"""Runs the tests of the pure code on the oldest supported Python of this machine.

``.venv/bin/python .ci/oldest.py``, after ``make test`` has made .venv. Patch releases differ in
their regular expressions, address tables and parsers, and a machine's own Python is often an older
one than a developer's. Prints which Python runs them, for example ``oldest Python here: 3.11.2``.
The exit status is pytest's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
NAMES = ("python3", "python3.11", "python3.12", "python3.13", "python3.14")
FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
# Tests that need no server and no process: what a page, an address or a record becomes.
PURE = ("tests/cleaning", "tests/papers", "tests/crawler/addresses", "tests/crawlclean")
VERSION = "import sys, venv; print(*sys.version_info[:3])"


def interpreters() -> dict[tuple[int, ...], str]:
    """A path for each supported version here, as ``{(3, 11, 2): "/usr/bin/python3"}``."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), *FOLDERS]
    paths = {str(Path(folder) / name) for folder in folders for name in NAMES}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    paths.update(map(str, pyenv.glob("versions/*/bin/python3")))
    found = {}
    for path in sorted(paths):
        if (version := version_of(path)) >= OLDEST:
            found.setdefault(version, path)
    return found


def version_of(python: str) -> tuple[int, ...]:
    """The version of an interpreter as ``(3, 11, 2)``; ``()`` when it does not start."""
    try:
        asked = subprocess.run([python, "-c", VERSION], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(map(int, asked.stdout.split())) if not asked.returncode else ()


def environment_for(python: str, version: tuple[int, ...]) -> Path:
    """Makes an environment with the locked packages of the tests; returns its interpreter.

    One of .venv's minor version shares .venv's packages: they are built for all its patch releases.
    """
    place = ROOT / "build" / "oldest"
    own = place / "bin" / "python"
    subprocess.run([python, "-m", "venv", "--clear", "--without-pip", str(place)], check=True)
    if version[:2] == sys.version_info[:2]:
        packages = sysconfig.get_paths()["platlib"]
        asked = [own, "-c", "import sysconfig; print(sysconfig.get_paths()['platlib'])"]
        site = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        Path(site, "shared.pth").write_text(f"import site; site.addsitedir({packages!r})\n")
        return own
    install = ["-m", "pip", "--python", str(own), "install", "--quiet", "--no-input"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--editable", str(ROOT)]
    for arguments in (["--require-hashes", "-r", str(ROOT / "requirements-test.lock")], offline):
        subprocess.run([sys.executable, *install, *arguments], check=True)
    return own


def main() -> int:
    """Finds the oldest interpreter and runs the tests on it."""
    found = interpreters()
    version = min(found, default=sys.version_info[:3])
    name = ".".join(map(str, version))
    if version == sys.version_info[:3]:
        print(f"oldest Python here: {name}, which ran the whole suite")
        return 0
    print(f"oldest Python here: {name} ({found[version]}): its turn for the pure tests", flush=True)
    python = environment_for(found[version], version)
    command = [str(python), "-m", "pytest", "-q", "-n", "auto", "--maxprocesses", "4", *PURE]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

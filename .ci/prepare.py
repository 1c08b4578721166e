"""Sets up .venv from the lock files: ``python3 .ci/prepare.py run|test``.

Needs nothing but python3 with venv. Written for any Python 3.6 or later, because its first job is
to say in one line that a Python is too old. Does nothing when .venv is up to date: the stamp in it
holds a digest of everything the set-up depends on. Two processes wait for each other.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
NEWER_NAMES = ("python3.13", "python3.12", "python3.11")
LOCKS = {"run": "requirements.lock", "test": "requirements-test.lock"}  # each holds all it needs
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"


def fail(message):
    """Ends the program with one line."""
    sys.exit("crawlclean: " + message)


def succeeds(*command):
    """True when a command ends well; its error output is dropped."""
    try:
        return not subprocess.run(command, stderr=subprocess.DEVNULL).returncode
    except OSError:
        return False


def is_new_enough(python):
    """True when an interpreter starts and is not older than OLDEST."""
    return succeeds(str(python), "-c", "import sys; sys.exit(sys.version_info < %r)" % (OLDEST,))


def find_python():
    """The interpreter to build .venv with: this one, else a newer one on PATH."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for path in filter(None, map(shutil.which, NEWER_NAMES)):
        if is_new_enough(path):
            return path
    return fail(
        "python3 is %d.%d and Python 3.11 or newer is needed: install it, "
        "or name it with make PYTHON=/path/to/python3.11" % sys.version_info[:2]
    )


def stamp(kind):
    """The file that says what .venv was prepared for."""
    return VENV / (".ready-" + kind)


def digest(kind):
    """What the set-up of a kind depends on: lock file, project file, this file, place."""
    wanted = hashlib.sha256(str(ROOT).encode())
    for name in (LOCKS[kind], "pyproject.toml", ".ci/prepare.py"):
        text = (ROOT / name).read_bytes()
        wanted.update(text.split(b"\n[tool.ruff]")[0])  # what follows that needs no set-up
    return wanted.hexdigest()


def is_ready(kind):
    """True when .venv holds what this kind needs (what tests need is enough to run)."""
    for ready in {"run": ("run", "test"), "test": ("test",)}[kind]:
        made_for = stamp(ready).read_text() if stamp(ready).exists() else ""
        if made_for == digest(ready) and VENV_PYTHON.exists():
            return True
    return False


def environment():
    """The environment of pip: the user's, without what would install elsewhere."""
    unwanted = {"PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    home = kept.get("HOME", "")
    if "PIP_CACHE_DIR" not in kept and not (home and os.access(home, os.W_OK)):
        kept["PIP_NO_CACHE_DIR"] = "1"
    kept["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return kept


def build_requirement(lock):
    """A lock file's lines about setuptools, themselves a lock file."""
    lines = iter((ROOT / lock).read_text().splitlines())
    for line in lines:
        if line.startswith("setuptools=="):
            found = [line]
            while found[-1].endswith("\\"):
                found.append(next(lines))
            return "\n".join(found) + "\n"
    return fail(lock + " does not hold setuptools: make lock")


def pip(*arguments):
    """Runs pip install in .venv; its own messages say what went wrong."""
    command = [str(VENV_PYTHON), "-m", "pip", "install", "--quiet", "--no-input"]
    if subprocess.run(command + list(arguments), cwd=str(ROOT), env=environment()).returncode:
        fail("pip could not install the above: is the package index reachable?")


def has_venv():
    """True when .venv works: a fitting Python, pip, and made for this place (scripts name it)."""
    script = VENV / "bin" / "pip"
    here = script.exists() and str(VENV) + os.sep in script.read_text()
    return here and is_new_enough(VENV_PYTHON) and succeeds(str(VENV_PYTHON), "-c", "import pip")


def make_venv():
    """Makes .venv, unless a working one is there."""
    if has_venv():
        return
    python = find_python()
    if not succeeds(python, "-c", "import ensurepip, venv"):
        fail("python3 has no venv module, install python3-venv: apt-get install python3-venv")
    if VENV.exists():
        shutil.rmtree(str(VENV))
    if subprocess.run([python, "-m", "venv", str(VENV)], env=environment()).returncode:
        fail("python3 -m venv failed, see above")


def prepare(kind):
    """Brings .venv up to date for a kind."""
    make_venv()
    print("crawlclean: setting up .venv to %s (once)" % kind, file=sys.stderr)
    for old in map(stamp, LOCKS):
        if old.exists():
            old.unlink()
    build = VENV / "build.lock"
    build.write_text(build_requirement(LOCKS[kind]))
    # setuptools first: what comes as source is then built by the locked one, not by a fetched one
    pip("--require-hashes", "-r", str(build))
    offline = ("--no-build-isolation", "--use-pep517")
    pip("--require-hashes", *offline, "-r", LOCKS[kind])
    pip("--no-deps", "--no-index", *offline, "--editable", ".")
    stamp(kind).write_text(digest(kind))


def main():
    """Prepares once, however many ask at the same time."""
    kind = sys.argv[1] if len(sys.argv) == 2 else ""
    if kind not in LOCKS:
        fail("usage: python3 .ci/prepare.py run|test")
    if is_ready(kind):
        return
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_ready(kind):
            prepare(kind)


if __name__ == "__main__":
    main()

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

OLDEST = (3, 11)
NEWER_NAMES = ("python3.13", "python3.12", "python3.11")
LOCKS = {"run": "requirements.lock", "test": "requirements-test.lock"}  # each holds all it needs
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")


def fail(message):
    """Ends the program with one line."""
    sys.exit("crawlclean: " + message)


def version_of(python):
    """(major, minor) of an interpreter, or None when it does not start."""
    try:
        code = "import sys; print(*sys.version_info[:2])"
        done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return tuple(int(part) for part in done.stdout.split()) if done.returncode == 0 else None
    except OSError:
        return None


def find_python():
    """The interpreter to build .venv with: this one, else a newer one on PATH."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for name in NEWER_NAMES:
        path = shutil.which(name)
        if path and (version_of(path) or (0, 0)) >= OLDEST:
            return path
    return fail(
        "python3 is %d.%d and Python 3.11 or newer is needed: install it, "
        "or name it with make PYTHON=/path/to/python3.11" % sys.version_info[:2]
    )


def digest(kind):
    """What the set-up of a kind depends on: lock files, project file, place, Python."""
    wanted = hashlib.sha256((ROOT + "\n" + str(version_of(VENV_PYTHON))).encode())
    for name in (LOCKS[kind], "pyproject.toml", ".ci/prepare.py"):
        with open(os.path.join(ROOT, name), "rb") as file:
            wanted.update(file.read().split(b"\n[tool.ruff]")[0])  # what follows needs no set-up
    return wanted.hexdigest()


def is_ready(kind):
    """True when .venv holds what this kind needs (what tests need is enough to run)."""
    for ready in ("test",) if kind == "test" else ("run", "test"):
        try:
            with open(os.path.join(VENV, ".ready-" + ready)) as file:
                if file.read() == digest(ready):
                    return True
        except OSError:
            continue
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
    with open(os.path.join(ROOT, lock)) as file:
        lines = iter(file.read().splitlines())
    for line in lines:
        if line.startswith("setuptools=="):
            found = [line]
            while found[-1].endswith("\\"):
                found.append(next(lines))
            return "\n".join(found) + "\n"
    return fail(lock + " does not hold setuptools: make lock")


def pip(*arguments):
    """Runs pip install in .venv; its own messages say what went wrong."""
    command = [VENV_PYTHON, "-m", "pip", "install", "--quiet", "--no-input"]
    if subprocess.run(command + list(arguments), cwd=ROOT, env=environment()).returncode:
        fail("pip could not install the above: is the package index reachable?")


def has_venv():
    """True when .venv works: a fitting Python, pip, and made for this place (scripts name it)."""
    try:
        with open(os.path.join(VENV, "bin", "pip")) as file:
            here = VENV + os.sep in file.read(1000)
    except OSError:
        return False
    return here and (version_of(VENV_PYTHON) or (0, 0)) >= OLDEST


def make_venv():
    """Makes .venv, unless a working one is there."""
    if has_venv():
        return
    python = find_python()
    if subprocess.run([python, "-c", "import ensurepip, venv"], stderr=subprocess.PIPE).returncode:
        fail("python3 has no venv module, install python3-venv: apt-get install python3-venv")
    shutil.rmtree(VENV, ignore_errors=True)
    print("crawlclean: setting up .venv", file=sys.stderr)
    if subprocess.run([python, "-m", "venv", VENV], env=environment()).returncode:
        fail("python3 -m venv failed, see above")


def prepare(kind):
    """Brings .venv up to date for a kind."""
    make_venv()
    for stamp in LOCKS:
        if os.path.exists(os.path.join(VENV, ".ready-" + stamp)):
            os.remove(os.path.join(VENV, ".ready-" + stamp))
    print("crawlclean: installing what %s needs (once)" % kind, file=sys.stderr)
    build = os.path.join(VENV, "build.lock")
    with open(build, "w") as file:
        file.write(build_requirement(LOCKS[kind]))
    # setuptools first: what comes as source is then built by the locked one, not by a fetched one
    pip("--require-hashes", "-r", build)
    offline = ("--no-build-isolation", "--use-pep517")
    pip("--require-hashes", *offline, "-r", LOCKS[kind])
    pip("--no-deps", "--no-index", *offline, "--editable", ".")
    with open(os.path.join(VENV, ".ready-" + kind), "w") as file:
        file.write(digest(kind))


def main():
    """Prepares once, however many ask at the same time."""
    kind = sys.argv[1] if len(sys.argv) == 2 else ""
    if kind not in LOCKS:
        fail("usage: python3 .ci/prepare.py run|test")
    if is_ready(kind):
        return
    with open(os.path.abspath(__file__)) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_ready(kind):
            prepare(kind)


if __name__ == "__main__":
    main()

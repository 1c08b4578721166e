#!/opt/venv/bin/python
"""Stands in for mongod and its first start: makes the users, then serves with them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

DATA = Path("/data/db/secantus")
READY = DATA.parent / "users-made"
SECRETS = Path("/run/secrets")
SERVE = [sys.executable, "-m", "secantus", "--standalone", "--storage-path", str(DATA)]
START_LIMIT_S = 60.0


def secret(name: str) -> str:
    return (SECRETS / name).read_text("utf-8").strip()


def make_users() -> None:
    """What the image's entry point and mongo-user.js do when the volume is empty."""
    server = subprocess.Popen([*SERVE, "--host", "127.0.0.1", "--port", "27018"])
    client: Any = MongoClient("mongodb://127.0.0.1:27018", serverSelectionTimeoutMS=500)
    end = time.monotonic() + START_LIMIT_S
    while True:
        try:
            client.admin.command("ping")
            break
        except PyMongoError:
            if time.monotonic() > end:
                raise
    root = {"role": "root", "db": "admin"}
    client.admin.command("createUser", "root", pwd=secret("mongo_root_password"), roles=[root])
    crawl = {"role": "readWrite", "db": "crawl"}
    client.crawl.command("createUser", "crawl", pwd=secret("mongo_password"), roles=[crawl])
    client.close()
    server.terminate()
    server.wait(START_LIMIT_S)
    READY.touch()


if __name__ == "__main__":
    if not READY.exists():
        make_users()
    everywhere = ("--host", "0.0.0.0", "--port", "27017")  # noqa: S104 - of its container
    os.execv(sys.executable, [*SERVE, "--auth", *everywhere])  # noqa: S606 - no shell is wanted

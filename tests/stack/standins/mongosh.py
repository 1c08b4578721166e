#!/opt/venv/bin/python
"""Stands in for mongosh with mongo-health.js: status 0 when the service's user can log in."""

from __future__ import annotations

import sys
from pathlib import Path

from pymongo import MongoClient
from pymongo.errors import PyMongoError

host = sys.argv[sys.argv.index("--host") + 1]
password = Path("/run/secrets/mongo_password").read_text("utf-8").strip()
try:
    MongoClient(
        host,
        27017,
        username="crawl",
        password=password,
        authSource="crawl",
        serverSelectionTimeoutMS=10_000,
    ).crawl.command("ping")
except PyMongoError as error:
    sys.exit(str(error))

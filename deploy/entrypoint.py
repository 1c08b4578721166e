"""What a container starts: puts secrets into the settings, then becomes the program.

``{name}`` in a ``*_URL`` variable stands for the content of the secret file of that name, so a
password is neither in the compose file nor in what ``docker inspect`` shows. ``healthcheck`` as
the only argument says whether the servers this container works for answer, and whether its spider
reaches hosts that others reach.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

PROGRAM = "crawlclean"
PLACE = re.compile(r"\{(\w+)\}")
SECRETS = Path("/run/secrets")


def with_secrets(environ: Mapping[str, str], folder: Path = SECRETS) -> dict[str, str]:
    """The environment, every ``{name}`` in a URL replaced by the secret of that name, quoted.

    Raises:
        OSError: A secret is not there or cannot be read.
        ValueError: A secret is empty.
    """

    def secret(found: re.Match[str]) -> str:
        text = (folder / found[1]).read_text(encoding="utf-8").strip()
        if not text:
            raise ValueError(f"secret {found[1]} is empty")
        return quote(text, safe="")

    return {k: PLACE.sub(secret, v) if k.endswith("_URL") else v for k, v in environ.items()}


def check_health(environ: Mapping[str, str]) -> None:
    """Returns when queue and store answer and the spider here works; starts nothing.

    Raises:
        ServiceError: One does not, or the settings are wrong.
    """
    from crawlclean.cleaning.errors import ServiceError
    from crawlclean.storage.opening import join_queue, open_store
    from crawlclean.workers.config import load_settings

    storage = load_settings(environ).storage
    with closing(join_queue(storage)) as queue:
        for name, trouble in queue.processes.troubles():
            raise ServiceError(f"spider {name}: {trouble}")
    if storage.mongodb_url:  # spiders have none
        with closing(open_store(storage)) as store:
            store.pauses.all()


def main(arguments: list[str]) -> None:
    """Becomes the program, or checks the health and ends."""
    try:
        environ = with_secrets(os.environ)
    except (OSError, ValueError) as error:
        sys.exit(f"{PROGRAM}: a secret cannot be read: {error}")
    if arguments != ["healthcheck"]:
        os.execvpe(PROGRAM, [PROGRAM, *arguments], environ)  # noqa: S606 - no shell is wanted
    from crawlclean.cleaning.errors import ServiceError

    try:
        check_health(environ)
    except ServiceError as error:
        sys.exit(f"{PROGRAM}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])

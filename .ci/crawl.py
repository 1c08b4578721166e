"""``crawlclean run`` for ``make run``: URLs that are left by a limit are no error of make.

``.venv/bin/python .ci/crawl.py URL [options]``. The exit status is that of ``run``, but 0 where
``run`` has 3: a limit of the caller, `stop` or `pause` ended the crawl. The summary says which.
"""

from __future__ import annotations

import sys

from crawlclean.workers.cli import main
from crawlclean.workers.commands.arguments import Exit

if __name__ == "__main__":
    status = main(["run", *sys.argv[1:]])
    sys.exit(Exit.DONE if status == Exit.URLS_LEFT else status)

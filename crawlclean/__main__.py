"""`python -m crawlclean` is the command `crawlclean`."""

import sys

from crawlclean.workers.cli import main

sys.exit(main())

"""`python -m crawlclean` is the command `crawlclean`."""

import sys

from workers.cli import main

sys.exit(main())

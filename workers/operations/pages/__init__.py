"""One stored page: its verdicts and its way, its older versions; pages of other files."""

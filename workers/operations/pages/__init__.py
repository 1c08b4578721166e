"""One stored page: its verdicts, its older versions, where its bytes come from."""

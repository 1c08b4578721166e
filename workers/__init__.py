"""The glue: RQ tasks, the processes and the command line."""

__dist__ = "crawlclean"

"""Cleaning: pure functions from a fetched page to one typed record."""

__dist__ = "crawlclean"

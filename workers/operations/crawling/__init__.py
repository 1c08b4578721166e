"""Crawls from their seeds to their end: specified, run, reported, recovered."""

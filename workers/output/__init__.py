"""Printing of results: tables, charts, progress lines, reports of hosts and models."""

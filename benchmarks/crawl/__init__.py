"""Crawls: cost, faults, politeness, memory."""

"""Crawls that follow a topic: simulated on a link graph, and live."""

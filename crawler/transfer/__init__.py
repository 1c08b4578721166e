"""Requests and responses: built, downloaded, decoded, judged."""

"""Sending: a topic's new stories to a webhook and to a command; begin with ``turns.py``."""

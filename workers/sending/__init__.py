"""Sending: a topic's new stories to a webhook; begin with ``turns.py``."""

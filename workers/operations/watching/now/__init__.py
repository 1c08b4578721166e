"""This moment of all crawls, and the hours before it. Entry: ``now.py``."""

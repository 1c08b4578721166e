"""The body text of a page."""

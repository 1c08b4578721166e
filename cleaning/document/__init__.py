"""Bytes to text to the flat tree of one page."""

"""The posts of a thread: parts that repeat on the page."""

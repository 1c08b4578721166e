"""The posts of a thread, found from what repeats on the page."""

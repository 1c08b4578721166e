"""Fetch pages politely and hand them over; never parse them."""

__dist__ = "crawlclean"

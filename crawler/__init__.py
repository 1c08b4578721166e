"""Fetches pages politely and puts them into the queue; never parses them."""

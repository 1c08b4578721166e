"""What a host taught, as values; nothing here learns."""

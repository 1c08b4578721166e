"""Site models: the rules learned of a host, as values; nothing here learns."""

"""The frontier at up to 10^7 URLs."""

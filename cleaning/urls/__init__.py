"""One URL: normal form, shape, pattern, signs of a trap."""

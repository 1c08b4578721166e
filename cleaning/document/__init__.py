"""One page: bytes to text to a flat tree."""

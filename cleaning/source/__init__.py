"""Reading a page: bytes to text, text to tree, hrefs to URLs."""

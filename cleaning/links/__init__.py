"""The links of a page with their kinds, and the outlinks of a crawl."""

"""Which IP addresses a crawl may reach."""

"""The address guard: IP addresses and ports that a crawl may reach."""

"""How a crawl is kept up to date: what it costs, and what it sees."""

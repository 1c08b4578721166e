"""What became of a URL, or why no crawl took it. Entry: ``explaining.py``."""

"""Files outside of a crawl: pages to clean or import, results to export, folders to check."""

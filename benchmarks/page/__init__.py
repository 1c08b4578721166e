"""One page: quality against gold, cost beside peers."""

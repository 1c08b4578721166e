"""One page: quality against gold, cost compared with peers."""

"""Forums: URL classes, posts, crawls of a generated forum."""

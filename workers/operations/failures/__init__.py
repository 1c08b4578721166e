"""What failed: why, and what is fetched again."""

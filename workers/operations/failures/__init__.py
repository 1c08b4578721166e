"""What failed: why, what is fetched again, what somebody has seen."""

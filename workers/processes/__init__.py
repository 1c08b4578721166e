"""What runs: workers, housekeeper, supervisor."""

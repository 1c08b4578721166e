"""What runs: workers, sweeper, supervisor."""

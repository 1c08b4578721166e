"""What a job does: pages to outcomes, learning, re-cleaning, recovery."""

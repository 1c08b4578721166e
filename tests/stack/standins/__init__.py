"""Programs and images that stand in for MongoDB and Redis, which cannot be had everywhere."""

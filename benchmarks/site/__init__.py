"""A whole host: the gain of learning, the cost of drift detection and re-cleaning."""

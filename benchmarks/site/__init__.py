"""A whole host: what learning brings, what drift and re-cleaning cost."""

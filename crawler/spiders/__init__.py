"""The spider: fetches leased URLs."""

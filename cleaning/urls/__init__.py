"""One URL alone: its normal form, its shape, its look."""

"""What users get from a page."""

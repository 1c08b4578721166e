"""Every link of a page with its kind, and the URLs that the frontier gets."""

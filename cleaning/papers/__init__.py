"""The published methods, one readable file each, callable alone."""

"""Every image of a page with its kind and caption."""

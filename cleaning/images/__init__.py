"""The images of a page, each with its kind and caption."""

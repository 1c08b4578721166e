"""The body of a page as Markdown."""

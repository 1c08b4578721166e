"""Title, author, date, language and kind of a page."""

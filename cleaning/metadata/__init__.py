"""Title, author, date of publication, language and kind of a page."""

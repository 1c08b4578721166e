"""The body of a page, with or without the model of its host."""

"""The store of the server mode; its files are named as those of `sqlite/`."""

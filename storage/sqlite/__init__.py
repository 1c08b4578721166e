"""The store of the embedded mode; its files are named as those of `mongo/`."""

"""What somebody should look at, whether it is mended, what an action led to; see ``signs.py``."""

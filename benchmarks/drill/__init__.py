"""A drill for operators: a crawl in trouble, and a console to mend it. Entry: ``drill.py``."""

"""Why each text of a page was kept or cut; the entry is ``verdicts.py``."""

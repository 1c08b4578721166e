"""Topics: how relevant a page is (``relevance.py``), by a topic that ``building.py`` makes."""

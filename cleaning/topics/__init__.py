"""Topics: how relevant a page is (``relevance.py``) to what a user asked for (``topic.py``)."""

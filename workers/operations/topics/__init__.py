"""What an operator can ask and do about topics and their stories.

Entry: ``topics.py`` creates, edits, marks, pauses and lists topics. ``crawls.py`` has the crawl of
a topic, ``reports.py`` what the topic has found (``harvest.py``: its sums), ``verdicts.py`` why a
page is relevant, ``marking.py`` which pages a user should mark, ``stories.py`` who else tells a
page's story, ``receivers.py`` who is told new ones. ``watching.py`` is what the console shows, of
``figures.py``; ``answering.py`` what its API answers.
"""

"""What an operator can ask and do about topics and their stories.

Entry: ``topics.py`` creates, edits, marks, pauses and lists topics. ``crawls.py`` has the crawl of
a topic, ``reports.py`` what the topic has found, ``verdicts.py`` why a page is relevant,
``stories.py`` who else tells a page's story.
``watching.py`` asks for a topic's figures as the console keeps them.
"""

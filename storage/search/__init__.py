"""Search by words in the texts of records.

``terms.py`` says what a phrase is, ``search_file.py`` is the index. The index is made from the
store and can be deleted at any time (ADR 49); ``workers/jobs/search.py`` fills it.
"""

"""Reported verdicts: said in the console, kept in the store, exported as golden folders.

Entry: ``cases.py`` makes, lists and withdraws them. ``parts.py`` names parts of a page,
``golden.py`` is the format of the folders in ``tests/pages/``, ``exporting.py`` writes them.
"""

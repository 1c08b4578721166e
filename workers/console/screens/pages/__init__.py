"""Screens about pages: one page, its versions, reported verdicts, search."""

"""The operations of an operator: questions and changes, called by commands and the console.

An operation takes the settings and an operator's arguments, opens queue and store, returns frozen
values, and raises the errors of ``cleaning.errors``. Nothing here prints, or parses a command line.
"""

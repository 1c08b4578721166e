"""What an operator can ask or do, as values: called by commands, and by whoever else shows them.

An operation takes the settings and what its user named, opens what it needs, returns frozen
values, and raises the errors of ``cleaning.errors``. Nothing here prints or reads arguments.
"""

"""Screens of actions: confirming one, its result, what was done by whom."""

"""Screens around the others: login, help, tokens, health."""

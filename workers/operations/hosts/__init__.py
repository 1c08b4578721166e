"""Hosts: their figures, URL classes and models. Entry: ``hosts.py``."""

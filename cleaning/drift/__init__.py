"""Drift: the newer pages of a host no longer fit its site model."""

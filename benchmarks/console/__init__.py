"""Benchmarks of the operators' console."""

"""Benchmarks on changed copies of labelled pages, and on few pages of labelled sites."""

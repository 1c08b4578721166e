"""Shared by benchmarks: command lines, results, scores, servers, labelled data."""

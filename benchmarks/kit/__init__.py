"""What benchmarks share: results, scores, servers, data."""

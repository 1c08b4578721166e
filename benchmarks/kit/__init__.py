"""Parts that benchmarks share: command lines, results, scores, servers, labelled data."""

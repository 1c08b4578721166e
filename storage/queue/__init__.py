"""Everything in Redis: frontier, page queue, jobs and counters; `lua/` holds the scripts."""

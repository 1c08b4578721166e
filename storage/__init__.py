"""Every byte at rest: the queue, the records, the raw archive and the hosts' statistics."""

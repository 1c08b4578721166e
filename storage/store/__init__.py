"""What both stores share: the protocol, its rows, and how values become bytes."""

"""What the commands print with ``--json``: one type for each kind of line; entry ``schema.py``."""

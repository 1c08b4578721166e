"""How results are printed: tables, charts, progress, reports."""

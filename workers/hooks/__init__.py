"""Link filters, record steps and exporters of other packages (ADR 31); entry ``loading.py``."""

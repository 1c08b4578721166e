"""The crawl file: a TOML file with all that `run` and `sites` take; entry `crawl_file.py`."""

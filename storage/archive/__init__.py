"""Raw pages as WARC."""

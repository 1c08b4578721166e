"""Pure functions from a fetched page to one clean, typed record.

``RawPage.from_bytes`` decodes a page once, ``clean`` reads it, ``learn_site`` learns a model of the
pages of one host, and ``clean`` with that model reads them better. Nothing here opens a socket or a
file (the packaged word lists excepted), or reads the clock or the environment.
"""

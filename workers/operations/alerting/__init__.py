"""Who is told of what: ``receivers.py`` sets receivers, ``alerts.py`` finds what they are told."""

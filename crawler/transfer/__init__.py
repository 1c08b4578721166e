"""One request and its response: how it is sent, decoded and handed over."""

"""Learning the rules of a site model from a sample of a host's pages."""

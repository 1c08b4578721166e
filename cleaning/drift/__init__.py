"""When the newer pages of a host no longer fit its model."""

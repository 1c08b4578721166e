"""What a host teaches about its pages."""

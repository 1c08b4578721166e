"""What stands in for the images of others, and is run in them: nothing here is imported."""

"""What each screen of the console and each resource of the API shows, one file each."""

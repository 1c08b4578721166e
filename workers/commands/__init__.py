"""The commands, a file each family."""

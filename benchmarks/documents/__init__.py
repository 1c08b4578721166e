"""The tables and plots of `docs/methods.md`, from kept results."""

"""Tables and plots of ``docs/methods.md``, from the kept results."""

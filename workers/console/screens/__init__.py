"""The screens of the console, one file each; see the docstring of ``workers/console``."""

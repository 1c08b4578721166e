"""Answers (``workers/answers/``) made from what operations find, for commands and API alike."""

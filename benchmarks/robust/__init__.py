"""Changed copies of labelled pages: how much of a figure survives what should not matter."""

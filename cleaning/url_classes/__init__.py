"""The URLs of one host: their classes, what each class leads to, which are duplicates."""

"""The URLs of one host: classes, kinds, duplicates, rules, traps."""

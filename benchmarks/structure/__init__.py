"""The structure of the code: sizes, import graph, and the drawing of the house."""

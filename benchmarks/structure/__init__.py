"""The structure of the code: sizes, import graph, drawing of the packages."""

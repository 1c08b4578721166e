"""Evidence about lines, blocks and headings of a page that several rooms use."""

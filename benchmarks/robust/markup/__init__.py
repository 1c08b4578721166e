"""The markup of forum programs of later years and of other shapes, beside ``engine_markup``."""

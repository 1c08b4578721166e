"""The words of the console in English and Chinese; entry ``words.py``, one table a screen."""

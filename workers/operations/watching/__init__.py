"""What the console asks again and again, over queue and store that are kept open.

``kept_backends.py`` keeps them open; the other files are the questions, one for each screen.
Nothing here starts a server, refreshes figures, or writes: asking costs a crawl next to nothing.
"""

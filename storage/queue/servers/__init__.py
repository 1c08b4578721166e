"""Several queue servers: hosts are split over them by registered domain (ADR 54).

``storage/server_list.py`` is the list and a host's place in it, ``stamps.py`` what each server
knows of the list, ``members.py`` one server for its own processes, ``spread.py`` all of them for
commands, ``meanings.py`` what each operation means on all, ``shares.py`` the budget of a crawl.
"""

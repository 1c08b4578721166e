"""Parts that several test folders share, by what a test needs.

* Servers and processes: ``server_process`` (the base of all), ``web`` (pages as data), ``raw_web``
  (bytes as given), ``proxy``, ``trap_pages``, ``certificates``, ``mongo_server``, ``servers``
  (a server that is missing), ``processes`` (the kernel's view), ``disks``.
* The real program: ``crawls`` (commands, crawls), ``private_queue`` (one process on a queue) with
  ``spiders`` and ``worker_bench``, ``defects`` and ``host_names`` (the program with changes),
  ``writers`` (processes that save).
* The queue and the stores: ``fixtures``, ``queues``, ``outcomes``, ``archived_site``, ``segments``,
  ``recount``.
* ``timing``: processor time, waiting for a condition.
"""

"""The glue: RQ jobs, processes, operations and the command line."""

"""The containers as ``docs/operate.md`` describes them, run by podman, from the build to the end.

``make stack`` runs ``python -m tests.stack``. What stands in for the images of Python, Redis and
MongoDB is in ``standins/``; Dockerfile and compose files are used unchanged.
"""

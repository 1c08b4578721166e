"""Actions of console and API: what would happen, in numbers; then what happened, in the audit.

Entry: ``actions.py`` lists them; ``performing.py`` does one, between its two rows of the audit.
``action.py`` has the types. Long actions are operations: ``running.py`` does them in a worker.
"""

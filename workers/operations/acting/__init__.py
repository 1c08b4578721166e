"""Actions of console and API: what would happen, in numbers; then what happened, in the audit.

Entry: ``action.py`` has the types, and does one between its two rows of the audit; ``actions.py``
lists them. Long actions are operations: ``running.py`` does them in a worker.
"""

"""One module per step: ``apply(context)`` looks first, then acts, and may run twice."""

"""The body as a mechanism: masses and inertias, inverse dynamics and its derivatives."""

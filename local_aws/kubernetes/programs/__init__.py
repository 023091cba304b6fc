"""Kubernetes' programs: built from Debian's source package, and cached."""

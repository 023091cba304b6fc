"""Errors of this machine."""


class HostError(Exception):
    """Something failed on this machine: a program, a build, a node or a control plane; the text says why and what to do."""

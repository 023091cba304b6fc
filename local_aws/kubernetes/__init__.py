"""A real Kubernetes control plane on this machine, for the embedded AWS's EKS.

`programs` builds Kubernetes 1.20 from Debian's source package, once; `control_plane.start` starts it without root.
"""

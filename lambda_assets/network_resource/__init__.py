"""Clear the way for the deletion of a VPC: the function of its custom resource, and the resources of others in it."""

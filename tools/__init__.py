"""Generate documentation, schemas and fact tables."""

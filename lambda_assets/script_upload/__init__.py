"""The function that uploads the lifecycle scripts; its only module is in the template, which limits it to 4 KiB."""

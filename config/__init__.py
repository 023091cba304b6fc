"""Define what a cluster file can contain, and facts about instance types and zones. Imports no aws_cdk."""

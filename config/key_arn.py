"""Define the ARN of a KMS key."""

from typing import Annotated

from pydantic import StringConstraints

KEY_ARN = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$"
KeyArn = Annotated[str, StringConstraints(pattern=KEY_ARN, max_length=2048)]

"""Define the ARN of a KMS key."""

from typing import Annotated

from pydantic import StringConstraints

KeyArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$", max_length=2048)
]

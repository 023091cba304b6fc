"""Private DNS names of addresses in a VPC."""


def domain(region: str) -> str:
    """Return the domain of private DNS names in a region."""
    return "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"


def private_dns_name(address: str, region: str) -> str:
    """Return the private DNS name of an address."""
    return f"ip-{address.replace('.', '-')}.{domain(region)}"

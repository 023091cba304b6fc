"""Look up the certificate authorities of Amazon RDS, which no image has."""

import json
import re
from pathlib import Path

TABLE = Path(__file__).parent / "data" / "rds_authorities.json"
# NAME.ID.REGION.rds.amazonaws.com: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ConnectToInstance.html.
HOST = re.compile(r"\.([a-z0-9-]+)\.rds\.amazonaws\.com$")
# NAME.proxy-ID.REGION has a certificate of ACM, and no authority of RDS:
# https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.SSL-certificate-rotation.html.
PROXY = ".proxy-"


def rds_region(host: str | None) -> str | None:
    """Return the region of an RDS database by its host name; None for other hosts."""
    found = HOST.search(host or "")
    return found[1] if found else None


def rds_authorities(host: str | None) -> str | None:
    """Return the authorities of the database's region in PEM; None for a proxy, other hosts and unknown regions."""
    known: dict[str | None, str] = json.loads(TABLE.read_text(encoding="utf-8"))["authorities"]
    return None if PROXY in (host or "") else known.get(rds_region(host))

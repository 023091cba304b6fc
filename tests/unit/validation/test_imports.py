"""Loading the configuration imports nothing that synth and `hpod` do not need."""

import subprocess
import sys

from tests import cluster_files

CODE = """
import sys
from pathlib import Path
from validation.load import load_clusters
load_clusters(Path(sys.argv[1]))
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_loading_clusters_imports_neither_aws_sdk_nor_cdk() -> None:
    ran = subprocess.run([sys.executable, "-c", CODE, cluster_files.CLUSTERS], capture_output=True, text=True, check=True)
    assert {"boto3", "botocore", "aws_cdk", "jsii", "moto", "constructs"} & set(ran.stdout.split()) == set()

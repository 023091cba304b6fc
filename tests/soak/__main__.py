"""`python -m tests.soak`: see command.py."""

import sys
from pathlib import Path

# Started without pytest, nobody has told Python where the functions' own source root is.
sys.path.insert(0, str(Path(__file__).parents[2] / "lambda_assets"))

from tests.soak.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

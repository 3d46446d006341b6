"""Workers are forked: other libraries that the suite has loaded by then warn of it, and warnings are errors there."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "parallel" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"))

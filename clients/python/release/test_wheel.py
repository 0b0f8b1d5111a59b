"""What the wheel of a release has, tested where nothing of the checkout is."""

import os
import sys

import kubefake
import pytest


def test_executable() -> None:
    assert os.path.commonpath([kubefake.find_binary(), sys.prefix]) == sys.prefix


@pytest.mark.parametrize("n", range(40))
def test_each_test_has_a_fork(kube: kubefake.Kube, n: int) -> None:
    kube.store({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{n}"}})
    writes = [change["name"] for write in kube.writes() for change in write["changes"] if change["resource"] == "nodes"]
    assert writes[-1] == f"node-{n}"
    assert set(writes) <= {"node-1", f"node-{n}"}  # the first one is of the session, in test_blocks.py

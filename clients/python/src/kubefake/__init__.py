"""A Kubernetes API server for tests in Python.

With pytest, the fixture ``kube`` is a server of its own for each test. Outside of
pytest::

    with kubefake.Server() as server:
        kubernetes.config.load_kube_config(server.kubeconfig)
"""

from ._control import Control
from ._server import Clock, Injection, Kube, KubeError, Server, Webhooks, find_binary

__all__ = ["Clock", "Control", "Injection", "Kube", "KubeError", "Server", "Webhooks", "find_binary"]

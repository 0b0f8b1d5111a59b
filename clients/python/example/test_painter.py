"""Tests of the painter. Each has a Kubernetes API server of its own."""

import pytest

kubernetes = pytest.importorskip("kubernetes")

import painter  # noqa: E402


def wall(name):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": {"paint": "green"}},
    }


@pytest.fixture
def api(kube):
    return kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(kube.kubeconfig))


def test_paint(kube, api):
    kube.store(wall("north"), wall("south"))
    painter.run(api, "default", walls=2)
    assert api.read_namespaced_config_map("north", "default").data == {"color": "green"}


def test_paint_after_a_conflict(kube, api):
    kube.store(wall("north"))
    conflict = kube.inject(verb="update", resource="configmaps", code=409, times=1)
    painter.run(api, "default", walls=1)
    assert conflict.hits == 1
    assert api.read_namespaced_config_map("north", "default").data == {"color": "green"}


def test_paint_gives_up(kube, api):
    kube.store(wall("north"))
    kube.inject(verb="update", resource="configmaps", code=409)
    with pytest.raises(kubernetes.client.ApiException):
        painter.run(api, "default", walls=1)


@pytest.mark.kube("--tls", "--authorization-mode", "RBAC")
def test_paint_needs_permission(kube):
    bob = kubernetes.config.new_client_from_config(kube.kubeconfig_for("bob"))
    with pytest.raises(kubernetes.client.ApiException) as failure:
        painter.run(kubernetes.client.CoreV1Api(bob), "default", walls=1)
    assert failure.value.status == 403

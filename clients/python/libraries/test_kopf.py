"""An operator of kopf, which runs in the process of the test with KopfRunner of kopf.testing."""

import time

import kopf
import kopf.testing
import kubernetes

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "walls.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "walls", "singular": "wall", "kind": "Wall"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def operator():
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def login(**kwargs):
        # kopf's default, the package kubernetes, reads KUBECONFIG when it is imported.
        return kopf.login_with_kubeconfig(**kwargs)

    @kopf.on.create("walls", registry=registry)
    def paint(patch, spec, **_):
        patch.status["color"] = spec["color"]

    @kopf.on.delete("walls", registry=registry)
    def remove(**_):
        pass

    return registry


def test_kopf(kube, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", kube.kubeconfig)
    kube.store(CRD)
    walls = kubernetes.client.CustomObjectsApi(kubernetes.config.new_client_from_config(kube.kubeconfig))
    wall = ("example.com", "v1", "default", "walls")

    def eventually(condition):
        deadline = time.monotonic() + 30
        while not (result := condition()):
            assert time.monotonic() < deadline, kube.story()
            time.sleep(0.05)
        return result

    arguments = ["run", "--all-namespaces", "--standalone"]
    with kopf.testing.KopfRunner(arguments, registry=operator(), timeout=30) as runner:
        # A patch of the operator fails once: kopf repeats it.
        outage = kube.inject(verb="patch", resource="walls.example.com", code=503, times=1)
        walls.create_namespaced_custom_object(*wall, {"apiVersion": "example.com/v1", "kind": "Wall", "metadata": {"name": "wall"}, "spec": {"color": "red"}})
        painted = eventually(lambda: walls.list_namespaced_custom_object(*wall)["items"][0].get("status"))
        assert painted["color"] == "red"
        assert outage.hits == 1

        walls.delete_namespaced_custom_object(*wall, "wall")
        eventually(lambda: not walls.list_namespaced_custom_object(*wall)["items"])
    assert runner.exit_code == 0

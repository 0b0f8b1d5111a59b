"""The twelve steps of docs/twelve-steps.md with the official client."""

import datetime
import http.server
import json
import threading

import pytest

kubernetes = pytest.importorskip("kubernetes")

from kubernetes import client, config, dynamic  # noqa: E402

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "walls.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "walls", "kind": "Wall"}, "versions": [{
        "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"color": {"type": "string", "enum": ["green", "red"]}}}}}}}]},
}  # fmt: skip
DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}}},
}  # fmt: skip
HOOK = {
    "metadata": {"name": "paint"},
    "webhooks": [{
        "name": "paint.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "clientConfig": {"service": {"namespace": "default", "name": "paint"}},
        "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["walls"]}]}],
}  # fmt: skip
WALLS = ("example.com", "v1", "default", "walls")


def wall(name, color):
    return {"apiVersion": "example.com/v1", "kind": "Wall", "metadata": {"name": name}, "spec": {"color": color}}


def config_map(name, color):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"color": color}}


def code(request, *args, **kwargs):
    with pytest.raises(client.ApiException) as failure:
        request(*args, **kwargs)
    return failure.value.status


class Deny(http.server.BaseHTTPRequestHandler):
    """Denies every object."""

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        review["response"] = {"uid": review["request"]["uid"], "allowed": False, "status": {"message": "red is sold out"}}
        body = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve(webhooks):
    server = http.server.HTTPServer((webhooks.host, webhooks.port), Deny)
    server.socket = webhooks.ssl_context().wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.mark.kube("--tls", "--authorization-mode", "RBAC", "--controllers", "*", "--manual-clock", "2030-01-01T09:00:00Z")
def test_twelve_steps(kube):
    api = config.new_client_from_config(kube.kubeconfig)
    core, custom = client.CoreV1Api(api), client.CustomObjectsApi(api)

    # 1. CRD: the server validates objects by a definition as soon as it is created.
    client.ApiextensionsV1Api(api).create_custom_resource_definition(CRD)
    assert code(custom.create_namespaced_custom_object, *WALLS, wall("north", "blue")) == 422
    custom.create_namespaced_custom_object(*WALLS, wall("north", "green"))

    # 2. Apply: fields have owners.
    config_maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    applied = config_maps.server_side_apply(config_map("paint", "green"), namespace="default", field_manager="painter")
    assert applied.metadata.managedFields[0].manager == "painter"

    # 3. Watch: history that is compacted is 410 Gone, or 410 Expired in the watch.
    kube.compact(watch_cache=True)
    watch = kubernetes.watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version="1", timeout_seconds=60)
    with pytest.raises(client.ApiException) as expired:
        next(watch)
    assert expired.value.status == 410

    # 4. Conflict: an update of an old version fails.
    version = applied.metadata.resourceVersion
    update = {**config_map("paint", "red"), "metadata": {"name": "paint", "resourceVersion": version}}
    core.replace_namespaced_config_map("paint", "default", update)
    assert code(core.replace_namespaced_config_map, "paint", "default", update) == 409

    # 5. Finalizer: the object is there until the last finalizer is removed.
    core.create_namespaced_config_map("default", {"metadata": {"name": "kept", "finalizers": ["example.com/paint"]}})
    core.delete_namespaced_config_map("kept", "default")
    assert core.read_namespaced_config_map("kept", "default").metadata.deletion_timestamp
    core.patch_namespaced_config_map("kept", "default", {"metadata": {"finalizers": None}})
    assert code(core.read_namespaced_config_map, "kept", "default") == 404

    # 6. Settle: the controllers have nothing left to do.
    apps = client.AppsV1Api(api)
    apps.create_namespaced_deployment("default", DEPLOYMENT)
    kube.settle(ahead="1m")
    assert apps.read_namespaced_deployment("web", "default").status.ready_replicas == 2

    # 7. Fork: a server with the same state.
    with kube.fork() as fork:
        forked = client.CustomObjectsApi(config.new_client_from_config(fork.kubeconfig))
        forked.delete_namespaced_custom_object(*WALLS, "north")
        assert code(forked.get_namespaced_custom_object, *WALLS, "north") == 404
    assert custom.get_namespaced_custom_object(*WALLS, "north")

    # 8. Freeze: a read from the watch cache is stale.
    kube.freeze("configmaps")
    core.patch_namespaced_config_map("paint", "default", {"data": {"color": "green"}})
    stale = core.list_namespaced_config_map("default", resource_version="0", field_selector="metadata.name=paint")
    assert stale.items[0].data["color"] == "red"
    kube.thaw("configmaps")

    # 9. Clock: the test moves the time of the server.
    kube.clock.advance("1h")
    late = core.create_namespaced_config_map("default", config_map("late", "green"))
    assert late.metadata.creation_timestamp >= datetime.datetime(2030, 1, 1, 10, tzinfo=datetime.timezone.utc)

    # 10. RBAC: a user without roles is forbidden.
    alice = client.CoreV1Api(config.new_client_from_config(kube.kubeconfig_for("alice", ["developers"])))
    assert code(alice.list_namespaced_config_map, "default") == 403

    # 11. Webhook: the test serves the webhooks of a configuration.
    client.AdmissionregistrationV1Api(api).create_validating_webhook_configuration(HOOK)
    server = serve(kube.install_webhooks())
    with pytest.raises(client.ApiException, match="denied the request: red is sold out"):
        custom.create_namespaced_custom_object(*WALLS, wall("south", "red"))
    server.shutdown()
    server.server_close()

    # 12. Story: what happened on the server.
    assert "denied the request: red is sold out" in kube.story()

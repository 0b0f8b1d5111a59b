"""Creates, reads, watches and deletes a ConfigMap with the Python client."""
from kubernetes import client, config, watch

config.load_kube_config()
api = client.CoreV1Api()
body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="python"), data={"a": "b"})
created = api.create_namespaced_config_map("default", body)
assert api.read_namespaced_config_map("python", "default").data == {"a": "b"}

version = str(int(created.metadata.resource_version) - 1)
w = watch.Watch()
for event in w.stream(api.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=60):
    if event["type"] == "ADDED" and event["object"].metadata.name == "python":
        w.stop()
        break
else:
    raise SystemExit("the watch has ended")
api.delete_namespaced_config_map("python", "default")
print("created, read, watched, deleted")

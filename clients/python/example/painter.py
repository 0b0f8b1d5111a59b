"""A small controller: every ConfigMap with the label paint gets its color."""

from kubernetes import client, watch


def paint(api: client.CoreV1Api, name: str, namespace: str, attempts: int = 5) -> None:
    """Sets the color of a ConfigMap. It tries again after a conflict."""
    for attempt in range(attempts):
        wall = api.read_namespaced_config_map(name, namespace)
        wall.data = {**(wall.data or {}), "color": wall.metadata.labels["paint"]}
        try:
            api.replace_namespaced_config_map(name, namespace, wall)
            return
        except client.ApiException as e:
            if e.status != 409 or attempt == attempts - 1:
                raise


def run(api: client.CoreV1Api, namespace: str, walls: int) -> None:
    """Paints ConfigMaps until a number of them are painted."""
    painted = set()
    for event in watch.Watch().stream(api.list_namespaced_config_map, namespace, label_selector="paint", timeout_seconds=30):
        name = event["object"].metadata.name
        if name not in painted:
            paint(api, name, namespace)
            painted.add(name)
        if len(painted) == walls:
            return
    raise TimeoutError(f"only {len(painted)} of {walls} ConfigMaps are painted")

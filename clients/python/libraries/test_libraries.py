"""Each library of PyPI that talks to a Kubernetes API server, with a conflict or a watch."""

import asyncio

import pytest

WALL = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wall", "namespace": "default"}, "data": {"color": "red"}}


def test_lightkube(kube):
    from lightkube import ApiError, Client, KubeConfig
    from lightkube.resources.core_v1 import ConfigMap

    client = Client(config=KubeConfig.from_file(kube.kubeconfig), namespace="default")
    client.create(ConfigMap.from_dict(WALL))
    conflict = kube.inject(verb="patch", resource="configmaps", code=409, times=1)
    with pytest.raises(ApiError) as failure:
        client.patch(ConfigMap, "wall", {"data": {"color": "green"}})
    assert failure.value.status.code == 409
    client.patch(ConfigMap, "wall", {"data": {"color": "green"}})
    assert conflict.hits == 1
    for event, wall in client.watch(ConfigMap, fields={"metadata.name": "wall"}):
        assert (event, wall.data) == ("ADDED", {"color": "green"})
        break


def test_kr8s(kube):
    import kr8s
    from kr8s.objects import ConfigMap

    api = kr8s.api(kubeconfig=kube.kubeconfig)
    wall = ConfigMap(WALL, api=api)
    wall.create()
    wall.patch({"data": {"color": "green"}})
    assert [w.data.color for w in api.get("configmaps", "wall", namespace="default")] == ["green"]
    wall.delete()
    wall.wait("delete", timeout=10)


def test_kubernetes_asyncio(kube):
    from kubernetes_asyncio import client, config, watch

    async def paint():
        async with await config.new_client_from_config(config_file=kube.kubeconfig) as api:
            core = client.CoreV1Api(api)
            await core.create_namespaced_config_map("default", WALL)
            async for event in watch.Watch().stream(core.list_namespaced_config_map, "default", field_selector="metadata.name=wall"):
                assert event["object"].data == {"color": "red"}
                break
            kube.inject(verb="delete", resource="configmaps", code=503)
            with pytest.raises(client.ApiException) as failure:
                await core.delete_namespaced_config_map("wall", "default")
            assert failure.value.status == 503

    asyncio.run(paint())

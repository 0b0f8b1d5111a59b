import { expect, test } from 'vitest';

import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { type Kube, type KubeObject, kubeTests } from 'kubefake';

const namespace = 'default';
const wall: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wall', namespace } };

const withKube = kubeTests({ setup: (server) => server.store(wall) });

function connect(kube: Kube): CoreV1Api {
  const config = new KubeConfig();
  config.loadFromFile(kube.kubeconfig);
  return config.makeApiClient(CoreV1Api);
}

// The tests run at the same time, each with a fork of its own.
test.concurrent('a conflict', withKube(async (kube) => {
  const api = connect(kube);
  const conflict = await kube.inject({ verb: 'update', resource: 'configmaps', code: 409, times: 1 });
  const paint = () => api.replaceNamespacedConfigMap({ namespace, name: 'wall', body: { ...wall, data: { color: 'green' } } });
  await expect(paint()).rejects.toMatchObject({ code: 409 });
  expect((await paint()).data).toEqual({ color: 'green' });
  expect(await conflict.hits()).toBe(1);
}));

test.concurrent('a stale read', withKube(async (kube) => {
  const api = connect(kube);
  await kube.freeze('configmaps');
  await kube.store({ ...wall, data: { color: 'green' } });
  const fieldSelector = 'metadata.name=wall';
  expect((await api.listNamespacedConfigMap({ namespace, fieldSelector })).items[0]?.data).toEqual({ color: 'green' });
  expect((await api.listNamespacedConfigMap({ namespace, fieldSelector, resourceVersion: '0' })).items[0]?.data).toBeUndefined();
}));

test('the story of a failed test', async () => {
  const failing = withKube(async (kube) => {
    await kube.remove(wall);
    throw new Error('the wall is gone');
  });
  await expect(failing()).rejects.toThrow(/the wall is gone[^]*configmaps default\/wall/);
});

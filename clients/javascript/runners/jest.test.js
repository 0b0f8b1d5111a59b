import { expect, jest, test } from '@jest/globals';

import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { kubeTests } from 'kubefake';

const namespace = 'default';
const wall = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wall', namespace } };

const withKube = kubeTests({ setup: (server) => server.store(wall) });

jest.setTimeout(30_000);

test.each(['red', 'green'])('each test has a fork: %s', withKube(async (kube, color) => {
  const config = new KubeConfig();
  config.loadFromFile(kube.kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  expect((await api.readNamespacedConfigMap({ namespace, name: 'wall' })).data).toBeUndefined();
  await api.replaceNamespacedConfigMap({ namespace, name: 'wall', body: { ...wall, data: { color } } });
  expect((await kube.writes()).at(-1)).toMatchObject({ writer: { verb: 'update' } });
}));

test('the story of a failed test', async () => {
  const failing = withKube(async (kube) => {
    await kube.remove(wall);
    throw new Error('the wall is gone');
  });
  await expect(failing()).rejects.toThrow(/the wall is gone[^]*configmaps default\/wall/);
});

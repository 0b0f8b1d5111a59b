// Tests of the painter. Each has a Kubernetes API server of its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { kubeTests, withKube } from 'kubefake';

import { run } from './painter.js';

const namespace = 'default';
const wall = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { paint: 'green' } } });

function connect(kubeconfig) {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return { config, api: config.makeApiClient(CoreV1Api) };
}

test('paint', withKube(async (kube) => {
  await kube.store(wall('north'), wall('south'));
  const { config, api } = connect(kube.kubeconfig);
  await run(config, api, namespace, 2);
  assert.deepEqual((await api.readNamespacedConfigMap({ namespace, name: 'north' })).data, { color: 'green' });
}));

test('paint after a conflict', withKube(async (kube) => {
  await kube.store(wall('north'));
  const conflict = await kube.inject({ verb: 'update', resource: 'configmaps', code: 409, times: 1 });
  const { config, api } = connect(kube.kubeconfig);
  await run(config, api, namespace, 1);
  assert.equal(await conflict.hits(), 1);
}));

test('paint gives up', withKube(async (kube) => {
  await kube.store(wall('north'));
  await kube.inject({ verb: 'update', resource: 'configmaps', code: 409 });
  const { config, api } = connect(kube.kubeconfig);
  await assert.rejects(run(config, api, namespace, 1), (err) => err.code === 409);
}));

const withUsers = kubeTests({ flags: ['--tls', '--authorization-mode', 'RBAC'] });

test('paint needs permission', withUsers(async (kube) => {
  await kube.store(wall('north'));
  const { config, api } = connect(await kube.kubeconfigFor('bob'));
  await assert.rejects(run(config, api, namespace, 1), /Forbidden/);
}));

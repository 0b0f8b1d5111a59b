// The twelve steps of docs/twelve-steps.md with @kubernetes/client-node.
import assert from 'node:assert/strict';
import https from 'node:https';
import { test } from 'node:test';

import {
  AdmissionregistrationV1Api, ApiextensionsV1Api, AppsV1Api, CoreV1Api, CustomObjectsApi, KubeConfig, PatchStrategy, Watch,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { kubeTests } from 'kubefake';

const namespace = 'default';
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'walls.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'walls', kind: 'Wall' }, versions: [{
      name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', properties: { color: { type: 'string', _enum: ['green', 'red'] } } } } } } }],
  },
};
const deployment = {
  metadata: { name: 'web' },
  spec: {
    replicas: 2, selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
};
const hook = {
  metadata: { name: 'paint' },
  webhooks: [{
    name: 'paint.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None',
    clientConfig: { service: { namespace, name: 'paint' } },
    rules: [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['walls'] }],
  }],
};
const walls = { group: 'example.com', version: 'v1', namespace, plural: 'walls' };
const wall = (name, color) => ({ apiVersion: 'example.com/v1', kind: 'Wall', metadata: { name }, spec: { color } });
const configMap = (name, color) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color } });
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const apply = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);

const connect = (kubeconfig) => {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
};

/** Denies every object. */
const serve = async ({ host, port, ...options }) => {
  const server = https.createServer(options, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const review = JSON.parse(body);
    review.response = { uid: review.request.uid, allowed: false, status: { message: 'red is sold out' } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(review));
  });
  await new Promise((resolve) => server.listen(port, host, resolve));
  return server;
};

const withKube = kubeTests({
  flags: ['--tls', '--authorization-mode', 'RBAC', '--controllers', '*', '--manual-clock', '2030-01-01T09:00:00Z'],
});

test('twelve steps', withKube(async (kube) => {
  const config = connect(kube.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const custom = config.makeApiClient(CustomObjectsApi);

  // 1. CRD: the server validates objects by a definition as soon as it is created.
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body: crd });
  await assert.rejects(custom.createNamespacedCustomObject({ ...walls, body: wall('north', 'blue') }), { code: 422 });
  await custom.createNamespacedCustomObject({ ...walls, body: wall('north', 'green') });

  // 2. Apply: fields have owners.
  const applied = await core.patchNamespacedConfigMap(
    { namespace, name: 'paint', body: configMap('paint', 'green'), fieldManager: 'painter' }, apply);
  assert.equal(applied.metadata.managedFields[0].manager, 'painter');

  // 3. Watch: history that is compacted is 410 Gone, or 410 Expired in the watch.
  await kube.compact({ watchCache: true });
  const expired = await new Promise((resolve) => {
    const events = [];
    new Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, { resourceVersion: '1' },
      (type, object) => events.push(object), (err) => resolve(err ?? events[0]));
  });
  assert.equal(expired.code ?? expired.statusCode, 410);

  // 4. Conflict: an update of an old version fails.
  const replace = (data) => core.replaceNamespacedConfigMap({ namespace, name: 'paint', body: { ...applied, data } });
  await replace({ color: 'red' });
  await assert.rejects(replace({ color: 'blue' }), { code: 409 });

  // 5. Finalizer: the object is there until the last finalizer is removed.
  const kept = { namespace, name: 'kept' };
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'kept', finalizers: ['example.com/paint'] } } });
  await core.deleteNamespacedConfigMap(kept);
  assert.ok((await core.readNamespacedConfigMap(kept)).metadata.deletionTimestamp);
  await core.patchNamespacedConfigMap({ ...kept, body: { metadata: { finalizers: null } } }, merge);
  await assert.rejects(core.readNamespacedConfigMap(kept), { code: 404 });

  // 6. Settle: the controllers have nothing left to do.
  const apps = config.makeApiClient(AppsV1Api);
  await apps.createNamespacedDeployment({ namespace, body: deployment });
  await kube.settle({ ahead: '1m' });
  assert.equal((await apps.readNamespacedDeployment({ namespace, name: 'web' })).status.readyReplicas, 2);

  // 7. Fork: a server with the same state.
  const fork = await kube.fork();
  const forked = connect(fork.kubeconfig).makeApiClient(CustomObjectsApi);
  await forked.deleteNamespacedCustomObject({ ...walls, name: 'north' });
  await assert.rejects(forked.getNamespacedCustomObject({ ...walls, name: 'north' }), { code: 404 });
  await fork.close();
  assert.ok(await custom.getNamespacedCustomObject({ ...walls, name: 'north' }));

  // 8. Freeze: a read from the watch cache is stale.
  await kube.freeze('configmaps');
  await core.patchNamespacedConfigMap({ namespace, name: 'paint', body: { data: { color: 'green' } } }, merge);
  const stale = await core.listNamespacedConfigMap({ namespace, resourceVersion: '0', fieldSelector: 'metadata.name=paint' });
  assert.equal(stale.items[0].data.color, 'red');
  await kube.thaw('configmaps');

  // 9. Clock: the test moves the time of the server.
  await kube.clock.advance('1h');
  const late = await core.createNamespacedConfigMap({ namespace, body: configMap('late', 'green') });
  assert.match(late.metadata.creationTimestamp.toISOString(), /^2030-01-01T10:/);

  // 10. RBAC: a user without roles is forbidden.
  const alice = connect(await kube.kubeconfigFor('alice', ['developers'])).makeApiClient(CoreV1Api);
  await assert.rejects(alice.listNamespacedConfigMap({ namespace }), { code: 403 });

  // 11. Webhook: the test serves the webhooks of a configuration.
  await config.makeApiClient(AdmissionregistrationV1Api).createValidatingWebhookConfiguration({ body: hook });
  const server = await serve(await kube.installWebhooks());
  await assert.rejects(custom.createNamespacedCustomObject({ ...walls, body: wall('south', 'red') }), /denied the request: red is sold out/);
  server.closeAllConnections();
  server.close();

  // 12. Story: what happened on the server.
  assert.match(await kube.story(), /denied the request: red is sold out/);
}));

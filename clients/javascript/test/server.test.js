// Tests of the package that need no Kubernetes client.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { KubeError, findBinary, kubeTests, start, withKube as plain } from '../src/index.js';

const configMap = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
const withKube = kubeTests({
  flags: ['--manual-clock', '2030-01-01T09:00:00Z'],
  setup: (server) => server.store(configMap('shared')),
});
const configMaps = (kube) => `${kube.url}/api/v1/namespaces/default/configmaps`;
const names = async (kube, query = '') =>
  (await (await fetch(configMaps(kube) + query)).json()).items.map((o) => o.metadata.name).filter((n) => !n.startsWith('kube-'));
const alive = (url) => fetch(`${url}/version`).then((r) => r.ok, () => false);

for (const n of [1, 2]) {
  test(`each test has a fork ${n}`, withKube(async (kube, t) => {
    assert.equal(t.name, `each test has a fork ${n}`);
    assert.deepEqual(await names(kube), ['shared']);
    await kube.store(configMap('own'));
    assert.deepEqual(await names(kube), ['own', 'shared']);
    await kube.remove(configMap('own'));
    assert.deepEqual(await names(kube), ['shared']);
  }));
}

test('without options', plain(async (kube) => assert.deepEqual(await names(kube), [])));

test('forks end', withKube(async (kube) => {
  const fork = await kube.fork();
  assert.equal((await kube.control.listForks()).forks.length, 1);
  assert.ok(await alive(fork.url));
  await fork.close();
  await fork.close();
  assert.equal((await kube.control.listForks()).forks.length, 0);
  assert.ok(!(await alive(fork.url)));
  assert.ok(!fs.existsSync(fork.kubeconfig));
}));

test('lag', withKube(async (kube) => {
  await kube.lag('configmaps', { frozen: true });
  await kube.store(configMap('new'));
  assert.deepEqual(await names(kube, '?resourceVersion=0'), ['shared']);
  await kube.thaw('configmaps');
  const { lags } = await kube.lag('configmaps', { by: '2s' });
  assert.equal(lags[0].by, '2s');
}));

test('faults', withKube(async (kube) => {
  const fault = await kube.inject({ verb: 'list', resource: 'configmaps', code: 500 });
  assert.equal((await fetch(configMaps(kube))).status, 500);
  assert.equal(await fault.hits(), 1);
  await fault.remove();
  assert.deepEqual(await names(kube), ['shared']);
  await assert.rejects(kube.inject({ verbs: 'list', code: 500 }), (err) => err instanceof KubeError && err.code === 400 && /unknown field/.test(err.message));
}));

test('clock', withKube(async (kube) => {
  await kube.clock.advance('10m');
  assert.deepEqual(await kube.clock.now(), new Date('2030-01-01T09:10:00Z'));
}));

test('compact', withKube(async (kube) => {
  const { metadata } = await (await fetch(configMaps(kube))).json();
  await kube.store(configMap('new'));
  await kube.compact({ watchCache: true });
  const old = await fetch(`${configMaps(kube)}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`);
  assert.equal(old.status, 410);
}));

test('story', withKube(async (kube) => {
  await kube.store(configMap('told'));
  assert.match(await kube.story(), /store configmaps default\/told/);
  assert.match(await kube.storyPage(), /<title>/);
  assert.equal((await kube.writes()).at(-1).changes[0].name, 'told');
}));

test('a failing test has the story', async () => {
  const storyDir = fs.mkdtempSync(path.join(os.tmpdir(), 'stories'));
  const failing = kubeTests({ storyDir })(async (kube) => {
    await kube.store(configMap('broken'));
    throw new Error('it fails');
  });
  await assert.rejects(failing(), (err) => {
    assert.match(err.message, /^it fails\n\nfakeapi story\n[^]*store configmaps default\/broken/);
    assert.match(err.stack, /store configmaps default\/broken[^]*\n +at /);
    return true;
  });
  const [dir] = fs.readdirSync(storyDir);
  assert.match(fs.readFileSync(path.join(storyDir, dir, 'story.html'), 'utf8'), /<title>/);
  fs.rmSync(storyDir, { recursive: true });
});

test('users', async () => {
  const server = await start({ flags: ['--tls', '--authorization-mode', 'RBAC'] });
  try {
    assert.match(server.url, /^https:/);
    const file = await server.kubeconfigFor('alice', ['developers']);
    assert.match(fs.readFileSync(file, 'utf8'), /token: /);
    assert.equal((await server.control.listForks()).forks.length, 0);
  } finally {
    await server.close();
  }
});

test('users need TLS', withKube((kube) => assert.rejects(kube.kubeconfigFor('alice'), /TLS/)));

test('webhooks', withKube(async (kube) => {
  await kube.store({
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'shop' },
    webhooks: [{
      name: 'deny.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None',
      clientConfig: { service: { namespace: 'shop', name: 'admission' } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    }],
  });
  const { host, port, ...options } = await kube.installWebhooks();
  const server = https.createServer(options, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const review = JSON.parse(body);
    review.response = { uid: review.request.uid, allowed: false, status: { message: 'no' } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(review));
  });
  await new Promise((resolve) => server.listen(port, host, resolve));
  try {
    const denied = await fetch(configMaps(kube), {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(configMap('denied')),
    });
    assert.match((await denied.json()).message, /webhook "deny.example.com" denied the request: no/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}));

test('a server that does not start', async () => {
  await assert.rejects(start({ flags: ['--none'] }), /unknown flag: --none/);
  await assert.rejects(start({ binary: '/none' }), /^KubeError: \/none: .*ENOENT/);
});

test('a server ends', async () => {
  const server = await start();
  assert.ok(await alive(server.url));
  await server.close();
  await server.close();
  assert.ok(!(await alive(server.url)));
  assert.ok(!fs.existsSync(server.kubeconfig));
});

test('two hundred forks at once leave nothing', async () => {
  const server = await start();
  const forks = await Promise.all(Array.from({ length: 200 }, () => server.fork()));
  await Promise.all(forks.map((fork, n) => fork.store(configMap(`own-${n}`))));
  assert.deepEqual(await Promise.all(forks.map((fork) => names(fork))), forks.map((_, n) => [`own-${n}`]));
  await Promise.all(forks.map((fork) => fork.close()));
  assert.deepEqual(await Promise.all(forks.map((fork) => alive(fork.url))), forks.map(() => false));
  assert.deepEqual((await server.control.listForks()).forks, []);
  await server.close();
  assert.ok(!(await alive(server.url)));
  assert.ok(!fs.existsSync(path.dirname(server.kubeconfig)));
});

for (const [name, end] of [['ends', 'undefined'], ['is killed', 'setInterval(() => {}, 1000)']]) {
  test(`a server ends if its process ${name}`, { skip: process.platform === 'win32' }, async () => {
    const index = fileURLToPath(new URL('../src/index.js', import.meta.url));
    const code = `const { start } = await import('${index}'); const { url, kubeconfig } = await start(); console.log(url, kubeconfig); ${end}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, FAKEAPI_BINARY: findBinary() },
    });
    let line = '';
    for await (const chunk of child.stdout) {
      line += chunk;
      if (line.endsWith('\n')) break;
    }
    const [url, kubeconfig] = line.trim().split(' ');
    if (name === 'is killed') child.kill('SIGKILL');
    for (let i = 0; i < 200; i++) {
      if (!(await alive(url)) && !fs.existsSync(path.dirname(kubeconfig))) return;
      await sleep(50);
    }
    assert.fail('the server runs without its process, or has left files');
  });
}

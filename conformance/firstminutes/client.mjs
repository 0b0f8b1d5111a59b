// Creates, reads, watches and deletes a ConfigMap with the JavaScript client.
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';

const config = new KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(CoreV1Api);
const namespace = 'default', name = 'javascript';

const created = await api.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { a: 'b' } } });
const read = await api.readNamespacedConfigMap({ namespace, name });
if (read.data.a !== 'b') throw new Error(JSON.stringify(read));

await new Promise((resolve, reject) => {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const from = { resourceVersion: String(BigInt(created.metadata.resourceVersion) - 1n) };
  new Watch(config).watch(path, from, (type, object) => {
    if (type === 'ADDED' && object.metadata.name === name) resolve();
  }, (err) => reject(err ?? new Error('the watch has ended'))).catch(reject);
});
await api.deleteNamespacedConfigMap({ namespace, name });
console.log('created, read, watched, deleted');
process.exit(0);

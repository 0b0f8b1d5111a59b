// A small controller: every ConfigMap with the label paint gets its color.
import { Watch } from '@kubernetes/client-node';

/** Sets the color of a ConfigMap. It tries again after a conflict. */
export async function paint(api, namespace, name, attempts = 5) {
  for (let attempt = 1; ; attempt++) {
    const wall = await api.readNamespacedConfigMap({ namespace, name });
    wall.data = { ...wall.data, color: wall.metadata.labels.paint };
    try {
      return await api.replaceNamespacedConfigMap({ namespace, name, body: wall });
    } catch (err) {
      if (err.code !== 409 || attempt === attempts) throw err;
    }
  }
}

/** Paints ConfigMaps until a number of them are painted. */
export async function run(config, api, namespace, walls) {
  const painted = new Set();
  let watch;
  await new Promise((resolve, reject) => {
    const paintOnce = async ({ metadata: { name } }) => {
      if (painted.has(name)) return;
      painted.add(name);
      await paint(api, namespace, name);
      if (--walls === 0) resolve();
    };
    watch = new Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, { labelSelector: 'paint' },
      (type, wall) => paintOnce(wall).catch(reject), (err) => reject(err ?? new Error('the watch has ended')));
    watch.catch(reject);
  }).finally(async () => (await watch.catch(() => undefined))?.abort());
}

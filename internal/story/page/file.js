// The objects of a story in a file. The file has the changes of objects, and the objects that were there
// before it began as they were at the end. From these follow the objects at each revision.

const pathParts = /(?:^|\.)([A-Za-z0-9_$-]+)|\[("(?:[^"\\]|\\.)*")\]|\[(\w+)=([^\]]*)\]/g;

// setField sets the value at a path of an object, as in spec.containers[name=app].image. undefined
// removes it.
function setField(object, path, value) {
  const parts = [...path.matchAll(pathParts)].map(([, plain, quoted, key, of]) => (key ? { key, of } : { name: plain ?? JSON.parse(quoted) }));
  const read = (at, p) => (p.key ? at.find((e) => String(e[p.key]) === p.of) : at[p.name]);
  const write = (at, p, v) => {
    if (!p.key) {
      if (v === undefined) delete at[p.name];
      else at[p.name] = v;
      return;
    }
    const i = at.findIndex((e) => String(e[p.key]) === p.of);
    if (v === undefined) at.splice(i, i < 0 ? 0 : 1);
    else if (i < 0) at.push(v);
    else at[i] = v;
  };
  let at = object;
  parts.slice(0, -1).forEach((p, i) => {
    if (read(at, p) === undefined) write(at, p, parts[i + 1].key ? [] : {});
    at = read(at, p);
  });
  write(at, parts.at(-1), value);
}

// A FileServer answers what the panes Objects and Findings ask a server, from the story of a file.
class FileServer {
  constructor(story) {
    this.story = story;
    this.histories = new Map(); // of the objects, by resource and path: { resource, namespace, name, end, versions }
    for (const o of story.objects || []) this.history(o).end = o.object;
    for (const rev of story.revisions) {
      for (const c of rev.changes) this.history(c).versions.push({ revision: rev.revision, type: c.type, writer: { userAgent: clientOf(rev.client), verb: rev.verb }, fields: c.fields || [] });
    }
  }

  // first is the oldest revision of the file.
  get first() {
    return this.story.revisions.length ? this.story.revisions[0].revision : this.story.revision;
  }

  history({ resource, namespace = "", name }) {
    const key = targetOf({ resource, namespace, name });
    if (!this.histories.has(key)) this.histories.set(key, { resource, namespace, name, versions: [] });
    return this.histories.get(key);
  }

  // objectAt returns an object at a revision, undefined if it does not exist then, or if the file does
  // not have it.
  objectAt(h, revision) {
    const upTo = before(h.versions, revision, (v) => v.revision), apply = (o, fields, which) => {
      for (const f of fields) setField(o, f.path, structuredClone(f[which]));
      return o;
    };
    let from = upTo;
    while (from >= 0 && h.versions[from].type === "MODIFIED") from--;
    if (from >= 0) { // forth from its creation
      if (h.versions[from].type === "DELETED") return undefined;
      return h.versions.slice(from, upTo + 1).reduce((o, v) => apply(o, v.fields, "new"), {});
    }
    const gone = h.versions.findIndex((v, i) => i > upTo && v.type !== "MODIFIED"), later = h.versions.slice(upTo + 1, gone < 0 ? undefined : gone + 1);
    if (gone < 0 ? !h.end : later.at(-1).type === "ADDED") return undefined;
    return later.reduceRight((o, v) => apply(o, v.fields, "old"), gone < 0 ? structuredClone(h.end) : {}); // back from its end
  }

  // all returns the objects at a revision with their histories.
  all(revision) {
    if (this.cached !== revision) {
      this.cached = revision;
      this.objects = [...this.histories.values()].map((h) => ({ ...h, object: this.objectAt(h, revision) })).filter((h) => h.object);
      for (const o of this.objects) o.object = { apiVersion: undefined, kind: undefined, metadata: {}, ...o.object }; // in this order
      this.objects.sort((a, b) => targetOf(a).localeCompare(targetOf(b)));
    }
    return this.objects;
  }

  async get(operation, query) {
    if (operation === "usage") return { findings: this.story.findings };
    const revision = +query.revision || this.story.revision, all = this.all(revision);
    return operation === "objects" ? this.table(all, revision, query) : this.object(all, revision, query);
  }

  table(all, revision, { resource, namespace, name }) {
    const counts = new Map();
    for (const o of all) counts.set(o.resource, (counts.get(o.resource) || 0) + 1);
    const selected = all.filter((o) => o.resource === resource && (!namespace || o.namespace === namespace) && (!name || o.name.includes(name)));
    const rows = selected.map((o) => ({ namespace: o.namespace, name: o.name, cells: [o.name], revision: this.written(o, revision) }));
    const resources = [...counts].sort().map(([of, count]) => ({ resource: of, count }));
    return { revision, resources, columns: [{ name: "Name" }], rows, total: rows.length };
  }

  // written returns the revision that has written an object, 0 if it was before the story.
  written(o, revision) {
    return o.versions.findLast((v) => v.revision <= revision)?.revision || 0;
  }

  object(all, revision, query) {
    const h = this.history(query), own = all.find((o) => targetOf(o) === targetOf(h));
    const out = { versions: h.versions, owners: [], dependents: [], events: [] };
    if (!own) return out;
    const owners = (o) => o.object.metadata.ownerReferences || [], of = (o, generations) => ({ resource: o.resource, namespace: o.namespace, name: o.name, generations });
    const up = (o, generations) => {
      for (const ref of generations > 3 ? [] : owners(o)) {
        const owner = all.find((other) => other.object.metadata.uid === ref.uid);
        out.owners.push(owner ? of(owner, generations) : { resource: ref.kind, name: ref.name, generations, missing: true });
        if (owner) up(owner, generations + 1);
      }
    };
    const down = (o, generations) => {
      for (const other of generations > 3 ? [] : all.filter((d) => owners(d).some((ref) => ref.uid === o.object.metadata.uid))) {
        out.dependents.push(of(other, generations));
        down(other, generations + 1);
      }
    };
    up(own, 1);
    down(own, 1);
    const about = (e) => e.involvedObject || e.regarding || {};
    out.events = all.filter((e) => /^events(\.|$)/.test(e.resource)).map((e) => e.object)
      .filter((e) => about(e).kind === own.object.kind && about(e).name === own.name && (about(e).namespace || "") === own.namespace);
    return { ...out, object: own.object, revision: this.written(own, revision) };
  }
}

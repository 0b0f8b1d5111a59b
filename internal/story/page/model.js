// The model: what has happened, as one log in order. A story in a file is one part, a server
// sends one after the other.

// Delays of sightings in microseconds: up to prompt they are not shown, from slow on
// they are highlighted.
const prompt = 20_000, slow = 100_000;

// maxThings bounds the log. The oldest fifth is forgotten when it is full.
const maxThings = 250_000;

const verbs = ["create", "update", "patch", "apply", "delete", "get", "list", "watch"];

// noteNames are short names of kinds of notes.
const noteNames = { compaction: "compact", injection: "inject", removal: "heal" };

// toneOf returns the style of a revision: the type of its changes if they have the
// same type.
function toneOf(rev) {
  const type = rev.changes[0] && rev.changes[0].type;
  return type && rev.changes.every((c) => c.type === type) ? type : "MODIFIED";
}

// isRead reports whether a request reads. The verb of a subresource is "get log".
function isRead(q) {
  return ["get", "list", "watch"].includes((q.verb || "").split(" ")[0]);
}

// refused reports whether a request was refused. A get of an object that does not
// exist was not.
function refused(q) {
  return q.code >= 400 && !(q.code === 404 && q.verb === "get");
}

// readerKey is the same for the lists and the watches of a client for the same objects.
function readerKey(r) {
  return [r.client.name, r.client.user, r.kind === "get", r.resource, r.namespace, r.name, r.selector].join("\0");
}

// A Model has the log. A thing of the log is an event, which has a line in the list, or a mark of
// a reader, or both:
//
//   event: { id, order, at, tone, no, who, text, targets, client, verb, code,
//            and one of revision, request, note, loop, members }
//   mark:  { order, at, reader, mark }
class Model {
  constructor() {
    this.clear();
  }

  clear() {
    this.log = [];
    this.lines = []; // the events, sorted by order
    this.events = new Map(); // by id
    this.revisions = new Map(); // by number
    this.readers = [];
    this.readerOf = new Map(); // by readerKey
    this.folded = new Set(); // the orders of the events that are a part of a fold
    this.failed = new Set(); // the orders of the faults that are in the line of a request
    this.counts = { writes: 0, requests: 0, faults: 0 }; // in the log; requests are those that were refused
    this.missing = new Map(); // gets that found nothing, by client and object
    this.began = 0;
    this.ended = { order: 0, at: 0 };
    this.revision = 0;
    this.compacted = 0;
    this.earlier = 0;
    this.gaps = 0;
    this.title = "";
    this.changed = false; // a reader is another kind of reader than before
  }

  // add adds a part and returns its things in order.
  add(part) {
    this.began = Date.parse(part.began);
    Object.assign(this, { ended: part.ended, revision: part.revision, compacted: part.compacted || 0, title: part.title || this.title });
    this.earlier += part.earlier || 0;
    this.gaps += part.gap ? 1 : 0;
    const things = [
      ...part.revisions.map((r) => this.ofRevision(r)), ...part.requests.map((q) => this.ofRequest(q)),
      ...part.notes.map((n) => this.ofNote(n)), ...part.readers.flatMap((r) => this.ofReader(r)), ...(part.loops || []).map((l, i) => this.ofLoop(l, i)),
    ];
    things.sort((a, b) => a.order - b.order);
    for (const thing of things) this.take(thing);
    this.foldAll(part.folds || [], things);
    return things;
  }

  // count adds a thing to the counts, or with -1 removes it.
  count(thing, by) {
    if (thing.revision) this.counts.writes += by;
    if (thing.request && refused(thing.request)) this.counts.requests += by;
    if (thing.note && thing.note.kind === "fault") this.counts.faults += by;
  }

  take(thing) {
    this.log.push(thing);
    this.count(thing, 1);
    if (thing.revision) {
      this.revisions.set(thing.revision.revision, thing.revision);
      this.findMissing(thing.revision);
    }
    if (thing.id) {
      this.lines.push(thing);
      this.events.set(thing.id, thing);
    }
    if (thing.mark) this.readers[thing.reader].marks.push(thing.mark);
  }

  // forget forgets the oldest things if there are too many. It reports whether it did.
  forget() {
    if (this.log.length < maxThings) return false;
    const gone = this.log.splice(0, maxThings / 5), first = this.log[0].order;
    for (const thing of gone) {
      this.count(thing, -1);
      if (thing.id) this.events.delete(thing.id);
      if (thing.revision) this.revisions.delete(thing.revision.revision);
    }
    this.lines = this.lines.filter((e) => e.order >= first);
    for (const r of this.readers) r.marks = r.marks.filter((m, i) => m.order >= first || i === r.marks.length - 1);
    this.missing.clear();
    this.gaps++;
    return true;
  }

  ofRevision(rev) {
    return {
      id: `r${rev.revision}`, order: rev.order, at: rev.at, tone: toneOf(rev), no: `r${rev.revision}`, client: rev.client,
      who: clientOf(rev.client), text: `${rev.verb} ${rev.brief}`, targets: rev.changes, verb: rev.verb, code: 200, revision: rev,
    };
  }

  ofRequest(q) {
    const e = {
      id: `q${q.order}`, order: q.order, at: q.at, tone: refused(q) ? "refused" : "idle", no: String(q.code), client: q.client, who: clientOf(q.client),
      text: `${q.verb || q.method} ${q.resource ? targetOf(q) : q.uri}: ${q.fault ? "a fault: " : ""}${q.message || "nothing changed"}`,
      targets: [q], verb: q.verb, code: q.code, request: q,
    };
    if (q.fault) this.failed.add(q.fault);
    if (q.code === 404 && q.verb === "get") this.missing.set(`${q.client.name}\0${targetOf(q)}`, e);
    return e;
  }

  // findMissing finds the get of an object that its client then creates, as clients do that create
  // or update.
  findMissing(rev) {
    if (!this.missing.size) return;
    for (const c of rev.changes) {
      const key = `${rev.client.name}\0${targetOf(c)}`, e = c.type === "ADDED" && this.missing.get(key);
      if (!e) continue;
      this.missing.delete(key);
      e.no = "get";
      e.text = `get ${targetOf(c)}: did not exist; created at r${rev.revision}`;
    }
  }

  ofNote(n) {
    return {
      id: `n${n.order}`, order: n.order, at: n.at, tone: "note", no: noteNames[n.kind] || n.kind, who: "", text: noteOf(n), targets: [], note: n,
    };
  }

  ofLoop(l, i) {
    return {
      id: `l${i}`, order: l.order, at: l.at, tone: "late", no: "loop", client: l.client, who: clientOf(l.client),
      text: `wrote ${targetOf(l)} ${l.writes.length} times in ${span(l.lasted)}: ${l.effect}`, targets: [l], verb: "", code: 200, loop: l,
    };
  }

  // ofReader returns the marks of a reader. Those that say that something went wrong are events.
  ofReader(r) {
    const key = readerKey(r);
    let i = this.readerOf.get(key);
    if (i === undefined) {
      i = this.readers.push({ ...r, marks: [] }) - 1;
      this.readerOf.set(key, i);
    }
    const reader = this.readers[i];
    if (r.kind === "watch" && reader.kind === "list") { // an informer lists before it watches
      reader.kind = "watch";
      this.changed = true;
    }
    return r.marks.map((m) => {
      const thing = { order: m.order, at: m.at, reader: i, mark: m };
      const e = { ...thing, id: `m${i}-${m.order}`, client: r.client, who: clientOf(r.client), targets: [reader], verb: m.kind === "get" || m.kind === "list" ? m.kind : "watch", code: 200 };
      if (m.kind === "end" && m.text) return { ...e, code: 410, tone: "refused", no: "end", text: `${readerOf(reader)}: ${m.text}` };
      if (m.newest > m.revision) return { ...e, tone: "late", no: `r${m.revision}`, text: `${[m.kind, r.resource, m.name].filter(Boolean).join(" ")}: read r${m.revision} when r${m.newest} was the newest` };
      return thing;
    });
  }

  // foldAll adds the folds of a part, and one for each run of equal notes.
  foldAll(folds, things) {
    const all = this.lines.length, of = new Map(things.filter((t) => t.id).map((e) => [e.order, e]));
    folds.forEach((f, i) => {
      const members = f.orders.map((order) => of.get(order)).filter(Boolean);
      if (members.length) this.fold(`f${f.order}-${i}`, members, ["lease", "events"].includes(f.kind) && f.text);
    });
    let run = [];
    for (const e of [...things.filter((t) => t.id && this.isLine(t)), {}]) {
      if (run.length && e.note && run[0].note && e.no === run[0].no && e.text === run[0].text) {
        run.push(e);
        continue;
      }
      if (run.length > 1) this.fold(`f-${run[0].id}`, run);
      run = [e];
    }
    if (this.lines.length > all) this.lines.sort((a, b) => a.order - b.order);
  }

  // fold adds a line for events. Unless it has a text, the events are equal.
  fold(id, members, text) {
    const first = members[0], last = members.at(-1);
    for (const e of members) this.folded.add(e.order);
    const e = {
      id, order: last.order, at: last.at, tone: text ? "idle" : first.tone, no: text ? "fold" : first.no, who: first.who, client: first.client,
      text: text || `${first.text} (${members.length} times)`, targets: members.flatMap((m) => m.targets), verb: first.verb, code: first.code, note: first.note, members,
    };
    this.lines.push(e);
    this.events.set(id, e);
  }

  // isLine reports whether an event has a line of its own in the list.
  isLine(e) {
    return e.members || !(this.folded.has(e.order) || this.failed.has(e.order));
  }

  // markOf returns the reader and the mark of an id, undefined for another id.
  markOf(id) {
    const m = /^m(\d+)-(\d+)$/.exec(id || ""), reader = m && this.readers[m[1]];
    const mark = reader && reader.marks.find((k) => k.order === +m[2]);
    return mark && { reader: +m[1], mark };
  }

  // covers reports whether a reader reads an object.
  covers(r, t) {
    return t.resource === r.resource && (!r.namespace || t.namespace === r.namespace) && (!r.name || t.name === r.name);
  }

  // sighting returns the mark at which a reader saw a revision, null if it should have and did not,
  // and undefined if it did not need to. It is what story.Reader.saw decides for the text.
  sighting(r, rev) {
    const get = r.kind === "get", later = before(r.marks, rev.order, byOrder) + 1;
    if (!get && (later === 0 || !rev.changes.some((c) => this.covers(r, c)))) return undefined;
    for (let i = later; i < r.marks.length; i++) {
      const m = r.marks[i];
      if (m.revision >= rev.revision && (!get || rev.changes.some((c) => c.resource === r.resource && pathOf(c) === m.name))) return m;
    }
    const left = later === r.marks.length && later > 0 && r.marks[later - 1].kind === "end" && !r.marks[later - 1].text;
    return r.kind === "watch" && !left ? null : undefined;
  }

  // unseen returns the newest revisions that a watcher should have seen and has not.
  unseen(r) {
    if (r.kind !== "watch") return [];
    const seen = r.marks.reduce((max, m) => Math.max(max, m.revision || 0), 0), out = [];
    for (let i = this.lines.length - 1; i >= 0; i--) {
      const rev = this.lines[i].revision;
      if (!rev || this.lines[i].members) continue;
      if (rev.revision <= seen) break;
      if (this.sighting(r, rev) === null) out.unshift(rev);
    }
    return out;
  }

  // revisionAt returns the newest revision at a position.
  revisionAt(order) {
    for (let i = before(this.lines, order, byOrder); i >= 0; i--) {
      if (this.lines[i].revision) return this.lines[i].revision.revision;
    }
    return 0;
  }
}

// A Filter selects the objects and clients that the page shows. "" selects all.
const filter = { client: "", resource: "", namespace: "", name: "", verb: "", status: "" };

function matches(t) {
  return (!filter.resource || t.resource === filter.resource)
    && (!filter.namespace || t.namespace === filter.namespace)
    && (!filter.name || (t.name || "").includes(filter.name));
}

// concerns reports whether a reader may read an object that passes the filter.
function concerns(r) {
  return (!filter.resource || r.resource === filter.resource)
    && (!filter.namespace || !r.namespace || r.namespace === filter.namespace)
    && (!filter.name || !r.name || r.name.includes(filter.name));
}

// asked reports whether a request of a client, with its first verb and its status code, passes.
function asked(client, verb, code, fault) {
  return (!filter.client || client.name === filter.client)
    && (!filter.verb || (verb || "").split(" ")[0] === filter.verb)
    && (!filter.status || (filter.status === "fault" ? fault : `${Math.floor(code / 100)}xx` === filter.status));
}

// hits reports whether the resource that passes the filter is one that a fault hits.
function hits(patterns) {
  const names = [filter.resource, filter.resource.split(".")[0]];
  const matches = (pattern) => new RegExp(`^${pattern.split("*").map((s) => s.replace(/[^\w-]/g, "\\$&")).join(".*")}$`);
  return !filter.resource || patterns.split(",").some((p) => names.some((name) => matches(p.trim().split("/")[0]).test(name)));
}

// shown reports whether an event passes the filter. A note without an object and a client does.
function shown(e) {
  if (e.note && e.note.fault) return hits(e.note.resource || "*");
  if (e.note) return (!e.note.resource || concerns(e.note)) && (!e.note.client || !filter.client || e.note.client.name === filter.client);
  if (!asked(e.client, e.verb, e.code, e.request && e.request.fault)) return false;
  return e.mark && e.mark.kind !== "get" ? concerns(e.targets[0]) : e.targets.some(matches);
}

// Lanes have what the chart draws: one for each client that writes, for the store, for each watcher,
// for what was done to the server, and for each client that reads. They take the things of the log
// in order. An item has a place on the axis; items ascend by it.

// The heights of lanes. Those of dense are for a chart that would otherwise need to
// scroll.
const heights = { heading: 22, writer: 32, store: 44, reader: 46, reads: 32, notes: 32, lag: 32 };
const dense = { heading: 22, writer: 20, store: 40, reader: 34, reads: 20, notes: 24, lag: 24 };

const noteLanes = { fault: "faults", compaction: "history and clock", clock: "history and clock", state: "history and clock", upgrade: "history and clock", fork: "forks", settle: "waits" };

// cutKinds are the kinds of notes that concern all lanes.
const cutKinds = ["compaction", "clock", "state", "upgrade", "fork"];

// maxInjections is how many lanes faults have that can hit at the same time.
const maxInjections = 4;

// readerShown reports whether a reader passes the filter.
function readerShown(r) {
  return concerns(r) && asked(r.client, filter.verb === r.kind ? filter.verb : r.kind === "watch" ? "watch" : r.kind, 200);
}

// isBad reports whether an item is one that a cluster must not hide.
const isBad = (item) => item.tone === "refused" || item.tone === "late";

// pushItem adds an item to a lane. bad is how many of the items up to it are bad, and tones how often the
// tone has changed.
function pushItem(items, item) {
  const last = items.at(-1);
  item.bad = (last ? last.bad : 0) + (isBad(item) ? 1 : 0);
  item.tones = last ? last.tones + (last.tone === item.tone ? 0 : 1) : 0;
  items.push(item);
}

// isOwn reports whether a lane is that of a controller of the server itself. These come after the clients.
const isOwn = (lane) => /^system:(kube-|node:|serviceaccount:kube-system:)/.test(lane.client && lane.client.user || "");

class Lanes {
  constructor(model) {
    this.model = model;
    this.groups = { Writers: new Map(), Store: new Map(), Watchers: new Map(), "Server actions": new Map(), Reads: new Map() };
    this.watching = new Map(); // the lanes of watchers, by resource
    this.cuts = []; // moments that concern all lanes
    this.bands = []; // spans that do: waits until the server had settled
    this.injected = new Map(); // the faults that can hit, by their IDs
    this.count = 0; // of lanes
    this.groups.Store.set("", { kind: "store", title: "revisions", sub: () => `newest r${model.revision}`, items: [] });
  }

  // take adds a thing at its place. from is the place where a thing that took time began.
  take(thing, place, passes, from) {
    if (thing.revision) this.commit(thing.revision, place);
    if (thing.mark && !thing.request) this.takeMark(thing, place);
    if (!passes || thing.mark || thing.loop) return;
    const item = { id: thing.id, order: thing.order, place, tone: thing.tone, glyph: thing.tone };
    if (thing.note) {
      this.takeNote(thing, item, from);
    } else if (thing.revision || !isRead(thing.request)) {
      const lane = this.ofClient("Writers", thing.client, () => ({ kind: "writer", title: thing.client.name, client: thing.client, items: [], writes: 0, refused: 0, sub: subOfWriter }));
      pushItem(lane.items, item);
      if (thing.revision) {
        lane.writes++;
        pushItem(this.groups.Store.get("").items, { ...item, no: thing.no });
      }
      if (thing.tone === "refused") lane.refused++;
    } else {
      this.read(thing.client, item, thing.tone === "refused" ? "refused" : "");
    }
  }

  // lane returns the lane of a key. It adds the one that fresh returns if there is none.
  lane(group, key, fresh) {
    const lanes = this.groups[group];
    if (!lanes.has(key)) {
      lanes.set(key, fresh());
      this.count++;
    }
    return lanes.get(key);
  }

  // ofClient returns the lane of a client. A request that was refused before authentication has no
  // user. It belongs to the lane with the same client name.
  ofClient(group, client, fresh) {
    const lanes = this.groups[group], key = `${client.name}\0${client.user || ""}`;
    const known = lanes.get(key) || (!client.user && [...lanes.values()].find((l) => l.title === client.name));
    return known || this.lane(group, key, fresh);
  }

  read(client, item, trouble) {
    const lane = this.ofClient("Reads", client, () => ({ kind: "reads", title: client.name, items: [], stale: 0, refused: 0, sub: subOfReads }));
    pushItem(lane.items, item);
    if (trouble) lane[trouble]++;
  }

  takeMark({ reader: i, mark: m, order, id }, place) {
    const reader = this.model.readers[i];
    if (!readerShown(reader)) return;
    const item = { id: id || `m${i}-${order}`, order, place }, late = m.newest > m.revision;
    if (reader.kind !== "watch") {
      if (!m.name || !filter.name || m.name.includes(filter.name)) this.read(reader.client, { ...item, tone: late ? "late" : "idle", glyph: late ? "late" : m.kind }, late ? "stale" : "");
      return;
    }
    const lane = this.lane("Watchers", i, () => {
      const fresh = { kind: "reader", title: reader.client.name, sub: () => readerOf(reader), reader: i, items: [], sessions: [], began: place, commits: [], commitPlaces: [], sights: [], sightPlaces: [] };
      if (!this.watching.has(reader.resource)) this.watching.set(reader.resource, []);
      this.watching.get(reader.resource).push(fresh);
      return fresh;
    });
    if (m.revision > (lane.sights.at(-1) ?? -1)) {
      lane.sights.push(m.revision);
      lane.sightPlaces.push(place);
    }
    const open = lane.sessions.at(-1);
    if (m.kind === "end") {
      pushItem(lane.items, { ...item, tone: m.text ? "refused" : "idle", glyph: m.text ? "end" : "left" });
      if (open) Object.assign(open, { to: place, refused: Boolean(m.text) });
    } else if (m.kind !== "step") {
      pushItem(lane.items, { ...item, tone: late ? "late" : "MODIFIED", glyph: late ? "late" : m.kind });
      if (m.kind === "watch" && (!open || open.to !== undefined)) lane.sessions.push({ from: place });
    }
  }

  // commit adds a revision to the lanes of those that watch its objects.
  commit(rev, place) {
    const resources = new Set(rev.changes.map((c) => c.resource));
    for (const resource of resources) {
      for (const lane of this.watching.get(resource) || []) {
        const r = this.model.readers[lane.reader];
        if (!rev.changes.some((c) => matches(c) && this.model.covers(r, c))) continue;
        lane.commits.push(rev.revision);
        lane.commitPlaces.push(place);
      }
    }
  }

  takeNote(e, item, from) {
    const { kind, resource } = e.note;
    if (kind === "injection" || kind === "removal") {
      this.takeInjection(e, item);
      return;
    }
    if (cutKinds.includes(kind)) this.cuts.push({ place: item.place, kind });
    if (kind === "settle") this.bands.push({ place: item.place, from });
    const lag = kind === "lag" || kind === "thaw", about = resource || "all resources";
    const title = lag ? "lag" : noteLanes[kind] || "other actions";
    const lane = lag ? this.lane("Server actions", `lag ${about}`, () => ({ kind: "lag", title, items: [], sub: () => about })) : this.notes(title);
    pushItem(lane.items, { ...item, tone: "note", glyph: "note", kind, text: e.text });
  }

  // notes returns the lane of notes with a title. spans are those that last.
  notes(title, key = title) {
    return this.lane("Server actions", key, () => ({ kind: "notes", title, items: [], spans: [], sub: (l) => `${l.items.length - l.spans.length}` }));
  }

  // takeInjection adds a fault, from its injection to its removal. The hits are in the first lane of faults.
  takeInjection(e, item) {
    const { kind, fault, until } = e.note;
    if (kind === "removal") {
      const span = this.injected.get(fault);
      if (span) span.to = item.place;
      this.injected.delete(fault);
      return;
    }
    const over = (span) => !span || span.to !== undefined || (span.until && span.until <= e.at);
    let n = 1, lane;
    do lane = this.notes("faults", n === 1 ? "faults" : `faults ${n}`);
    while (++n <= maxInjections && !over(lane.spans.at(-1)));
    const span = { ...item, until };
    lane.spans.push(span);
    this.injected.set(fault, span);
    pushItem(lane.items, { ...item, tone: "note", glyph: "injection", text: e.text });
  }

  // arrange returns the lanes with their headings from top to bottom, each with its y and its height.
  // They are dense if they need more than room otherwise.
  arrange(room) {
    const list = Object.entries(this.groups).flatMap(([title, lanes]) => (lanes.size ? [{ kind: "heading", title }, ...[...lanes.values()].sort((a, b) => isOwn(a) - isOwn(b))] : []));
    const used = list.reduce((sum, lane) => sum + heights[lane.kind], 0) > room ? dense : heights;
    let y = 0;
    for (const lane of list) {
      Object.assign(lane, { y, height: used[lane.kind] });
      y += lane.height;
    }
    return list;
  }
}

function subOfWriter(lane) {
  const user = lane.client.user && lane.client.user !== "admin" ? ` · ${lane.client.user}` : "";
  return `${plural(lane.writes, "write")}${lane.refused ? `, ${lane.refused} refused` : ""}${user}`;
}

function subOfReads(lane) {
  return `${plural(lane.items.length, "read")}${lane.stale ? `, ${lane.stale} stale` : ""}${lane.refused ? `, ${lane.refused} refused` : ""}`;
}

// headAt and seenAt return how many changes of its objects there were for a watcher at a place, and how
// many of them it had seen.
function headAt(lane, place) {
  return before(lane.commitPlaces, place) + 1;
}

function seenAt(lane, place) {
  const i = before(lane.sightPlaces, place);
  return i < 0 ? 0 : Math.min(before(lane.commits, lane.sights[i]) + 1, headAt(lane, place));
}

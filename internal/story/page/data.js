// The story, and the events that the page lists.

const story = JSON.parse(document.getElementById("story").textContent);

// Delays of sightings in microseconds: up to prompt they are not shown, from slow on
// they are highlighted.
const prompt = 20_000, slow = 100_000;

// offset formats Moment.at.
function offset(at) {
  const s = at / 1e6;
  if (s < 60) return `+${s.toFixed(3)} s`;
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  if (h) return `+${h}h ${String(m).padStart(2, "0")}m ${Math.floor(s % 60)}s`;
  return `+${m}m ${(s % 60).toFixed(3).padStart(6, "0")}s`;
}

// span formats a duration.
function span(us) {
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${+(us / 1000).toPrecision(3)} ms`;
  if (us < 6e7) return `${+(us / 1e6).toPrecision(3)} s`;
  return us < 36e8 ? `${Math.floor(us / 6e7)}m ${Math.round(us / 1e6) % 60}s` : `${Math.floor(us / 36e8)}h ${Math.round(us / 6e7) % 60}m`;
}

function pathOf(t) {
  return t.namespace && t.name ? `${t.namespace}/${t.name}` : t.name || "";
}

function targetOf(t) {
  return [t.resource, pathOf(t)].filter(Boolean).join(" ");
}

function clientOf(c) {
  return c.manager && c.manager !== c.name ? `${c.name} (${c.manager})` : c.name;
}

// readerOf describes a reader without its client.
function readerOf(r) {
  let text = `${r.kind} ${r.resource}`;
  if (r.name) text += ` ${pathOf(r)}`;
  else if (r.namespace) text += ` in ${r.namespace}`;
  return r.selector ? `${text} · ${r.selector}` : text;
}

function noteOf(n) {
  const about = n.resource && !n.text.includes(n.resource) ? ` (${n.resource})` : "";
  return `${n.text}${about}${n.client ? `, for ${n.client.name}` : ""}`;
}

// toneOf returns the style of a revision: the type of its changes if they have the
// same type.
function toneOf(rev) {
  const types = new Set(rev.changes.map((c) => c.type));
  return types.size === 1 ? [...types][0] : "MODIFIED";
}

// createdAfter returns the revision in which the client of a get creates the object
// that the get did not find, as clients do that create or update.
function createdAfter(q) {
  if (q.code !== 404 || q.verb !== "get") return undefined;
  return story.revisions.find((r) => r.order > q.order && r.client.name === q.client.name
    && r.changes.some((c) => c.type === "ADDED" && c.resource === q.resource && pathOf(c) === pathOf(q)));
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

// events are the lines of the list, in order.
const events = [];
const eventOf = new Map(); // by id

function addEvent(e) {
  events.push(e);
  eventOf.set(e.id, e);
}

for (const rev of story.revisions) {
  addEvent({
    id: `r${rev.revision}`, order: rev.order, at: rev.at, tone: toneOf(rev), no: `r${rev.revision}`,
    who: clientOf(rev.client), text: `${rev.verb} ${rev.brief}`, targets: rev.changes, revision: rev,
  });
}
story.requests.forEach((q, i) => {
  const created = createdAfter(q), outcome = created ? `did not exist; created at r${created.revision}` : q.message || "nothing changed";
  addEvent({
    id: `q${i}`, order: q.order, at: q.at, tone: refused(q) ? "refused" : "idle", no: created ? "get" : String(q.code), who: clientOf(q.client),
    text: `${q.verb || q.method} ${q.resource ? targetOf(q) : q.uri}: ${q.fault ? "a fault: " : ""}${outcome}`, targets: [q], request: q,
  });
});
story.notes.forEach((n, i) => addEvent({
  id: `n${i}`, order: n.order, at: n.at, tone: "note", no: n.kind === "compaction" ? "compact" : n.kind, who: "", text: noteOf(n),
  targets: [], note: n,
}));
story.readers.forEach((r, i) => r.marks.forEach((m, j) => {
  const e = { id: `m${i}-${j}`, order: m.order, at: m.at, who: clientOf(r.client), targets: [r], reader: i, mark: m };
  if (m.kind === "end" && m.text) addEvent({ ...e, tone: "refused", no: "end", text: `${readerOf(r)}: ${m.text}` });
  else if (m.newest > m.revision) addEvent({ ...e, tone: "late", no: `r${m.revision}`, text: `${[m.kind, r.resource, m.name].filter(Boolean).join(" ")}: read r${m.revision} when r${m.newest} was the newest` });
}));
(story.loops || []).forEach((l, i) => addEvent({
  id: `l${i}`, order: l.order, at: l.at, tone: "late", no: "loop", who: clientOf(l.client),
  text: `wrote ${targetOf(l)} ${l.writes.length} times in ${span(l.lasted)}: ${l.effect}`, targets: [l], loop: l,
}));
events.sort((a, b) => a.order - b.order);

// folded has the orders of the events that are a part of a fold. failed has those of the faults
// that are in the lines of the requests that they made fail.
const folded = new Set(), failed = new Set(story.requests.map((q) => q.fault));
const orderOf = new Map(events.map((e) => [e.order, e]));

// isLine reports whether an event has a line of its own in the list.
function isLine(e) {
  return e.members || !(folded.has(e.order) || failed.has(e.order));
}

// addFold adds a line for events. Unless it has a text, the events are equal.
function addFold(id, members, text) {
  const first = members[0], last = members.at(-1);
  for (const e of members) folded.add(e.order);
  addEvent({
    id, order: last.order, at: last.at, tone: text ? "idle" : first.tone, no: text ? "fold" : first.no, who: first.who,
    text: text || `${first.text} (${members.length} times)`, targets: members.flatMap((e) => e.targets), note: first.note, members,
  });
}

(story.folds || []).forEach((f, i) => {
  const members = f.orders.map((order) => orderOf.get(order)).filter(Boolean);
  if (members.length) addFold(`f${i}`, members, ["lease", "events"].includes(f.kind) && f.text);
});
let run = [];
for (const e of [...events.filter(isLine), {}]) {
  if (run.length && e.note && run[0].note && e.no === run[0].no && e.text === run[0].text) {
    run.push(e);
    continue;
  }
  if (run.length > 1) addFold(`f-${run[0].id}`, run);
  run = [e];
}
events.sort((a, b) => a.order - b.order);

// sightingsOf has, for each reader, the revisions that it saw or should have seen.
// seen is the order at which it saw them.
const sightingsOf = story.readers.map(() => []);
for (const rev of story.revisions) {
  for (const [reader, order] of rev.seen || []) sightingsOf[reader].push({ rev, seen: order });
}

const revisionOf = new Map(story.revisions.map((r) => [r.revision, r]));

// The filter selects the objects that the page shows.
const filter = { resource: "", namespace: "", name: "" };

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

// shown reports whether an event passes the filter. An event without an object
// does.
function shown(e) {
  if (e.mark && e.mark.kind !== "get") return concerns(story.readers[e.reader]);
  if (e.note) return !e.note.resource || concerns(e.note);
  return e.targets.some(matches);
}

// listed reports whether the list shows an event.
function listed(e) {
  return shown(e) && isLine(e);
}

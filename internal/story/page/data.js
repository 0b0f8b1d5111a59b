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
    text: `${q.verb || q.method} ${q.resource ? targetOf(q) : q.uri}: ${outcome}`, targets: [q], request: q,
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

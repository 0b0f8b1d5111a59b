// The details of the selected event.

const details = byId("details");

function link(id, text) {
  return `<button type="button" class="link" data-go="${id}">${escape(text)}</button>`;
}

function cell(v, kind) {
  return v === undefined ? '<td class="none">·</td>' : `<td class="${kind}">${escape(yaml(v))}</td>`;
}

// diffOf returns the fields that a change changed.
function diffOf(change) {
  const fields = change.fields || [];
  if (fields.length === 0) return '<p class="facts">No field differs.</p>';
  const columns = { ADDED: ["new"], DELETED: ["old"], MODIFIED: ["old", "new"] }[change.type];
  const titles = { old: change.type === "DELETED" ? "last value" : "before", new: change.type === "ADDED" ? "value" : "after" };
  return `<table class="diff"><thead><tr><th class="path">field</th>${columns.map((c) => `<th>${titles[c]}</th>`).join("")}</tr></thead><tbody>`
    + fields.map((f) => `<tr><td class="path">${escape(f.path)}</td>${columns.map((c) => cell(f[c], c)).join("")}</tr>`).join("")
    + "</tbody></table>";
}

// neighbours returns the revisions of an object before and after rev.
function neighbours(change, rev) {
  const same = (c) => c.resource === change.resource && c.namespace === change.namespace && c.name === change.name;
  const all = [...model.revisions.values()].filter((r) => r.changes.some(same)), i = all.indexOf(rev);
  return { before: all[i - 1], after: all[i + 1], place: i + 1, of: all.length };
}

function moment(at) {
  const time = new Date(model.began + at / 1000);
  return `${offset(at)} · ${time.toISOString().replace("T", " ").replace("Z", " UTC")}`;
}

function clientFacts(c) {
  return [clientOf(c), c.user && `user ${c.user}`, c.userAgent].filter(Boolean).map(escape).join(" · ");
}

function showRevision(e) {
  const rev = e.revision;
  if (rev.lean && server) completeRevision(e);
  const objects = rev.changes.map((c) => {
    const n = neighbours(c, rev);
    const history = n.of > 1 ? `<span class="facts">${n.place} of its ${n.of} revisions</span>`
      + (n.before ? link(`r${n.before.revision}`, `← r${n.before.revision}`) : "") + (n.after ? link(`r${n.after.revision}`, `r${n.after.revision} →`) : "") : "";
    const open = `<button type="button" class="link" data-object="${escape(JSON.stringify([c.resource, c.namespace, c.name, rev.revision]))}">object</button>`;
    return `<div class="object"><span class="badge ${c.type}">${c.type}</span><h3>${escape(targetOf(c))}</h3>${history}${open}</div>${rev.lean ? '<p class="facts">Reading what it changed…</p>' : diffOf(c)}`;
  });
  if (rev.omitted) objects.push(`<p class="facts">and ${rev.omitted} more objects</p>`);
  const seen = model.readers.map((r) => ({ r, m: model.sighting(r, rev) })).filter(({ m }) => m !== undefined).map(({ r, m }) => {
    const when = m === null ? '<span class="never">not seen</span>' : `<span class="${m.at - rev.at >= slow ? "slow" : ""}">after ${span(Math.max(0, m.at - rev.at))}</span>`;
    return `<tr><td>${escape(r.client.name)}</td><td>${escape(readerOf(r))}</td><td>${when}</td></tr>`;
  });
  details.innerHTML = `<h2>r${rev.revision} · ${escape(rev.verb)} by ${escape(clientOf(rev.client))}</h2>`
    + `<p class="facts">${moment(rev.at)}<br>${clientFacts(rev.client)}</p>${objects.join("")}<h3>Who saw it</h3>`
    + (seen.length ? `<table><tbody>${seen.join("")}</tbody></table>` : '<p class="facts">No client watched or read it.</p>');
}

// completeRevision reads the fields of a revision that came without.
async function completeRevision(e) {
  try {
    const [whole] = (await server.get("revisions", { revision: e.revision.revision })).revisions;
    Object.assign(e.revision, { lean: false, brief: whole.brief, changes: whole.changes });
  } catch (err) {
    Object.assign(e.revision, { lean: false });
  }
  e.text = `${e.revision.verb} ${e.revision.brief}`;
  if (chart.chosen === e.id) showRevision(e);
  list.draw();
}

function showRequest(e) {
  const q = e.request;
  details.innerHTML = `<h2>${q.code} · ${escape(q.verb || q.method)} ${escape(targetOf(q))}</h2><p class="facts">${moment(q.at)}, took ${span(q.duration)}<br>${clientFacts(q.client)}</p>`
    + `<p class="message">${escape(q.method)} ${escape(q.uri)}</p>`
    + `<p class="message">${q.fault ? "A fault: " : ""}${escape(q.message || "The request changed nothing.")}</p>${q.panic ? `<p class="message">${escape(q.panic)}</p>` : ""}`;
}

function showNote(e) {
  const n = e.note, facts = [moment(n.at), n.resource, n.revision && `revision ${n.revision}`].filter(Boolean);
  details.innerHTML = `<h2>${escape(n.kind)}</h2><p class="facts">${facts.map(escape).join(" · ")}${n.client ? `<br>${clientFacts(n.client)}` : ""}</p><p class="message">${escape(n.text)}</p>`
    + (n.fault ? `<p class="facts">${lifeOf(e)}</p>` : "");
}

// lifeOf says how long a fault was there: e is its injection or its removal.
function lifeOf(e) {
  const { kind, fault, until } = e.note, same = model.lines.filter((l) => l.note && l.note.fault === fault), i = same.indexOf(e);
  const other = kind === "injection" ? same.slice(i + 1).find((l) => l.note.kind === "removal") : same.slice(0, i).findLast((l) => l.note.kind === "injection");
  if (other) return `${kind === "injection" ? "It ended" : "It was injected"} ${span(Math.abs(other.at - e.at))} ${kind === "injection" ? "later" : "earlier"}: ${link(other.id, other.no)}`;
  if (until) return `It ends by itself ${span(until - e.at)} later.`;
  return kind === "injection" ? "It can still hit." : "";
}

function showLoop(e) {
  const l = e.loop, writes = l.revisions || [];
  details.innerHTML = `<h2>loop · ${escape(targetOf(l))}</h2><p class="facts">${moment(l.at - l.lasted)}, for ${span(l.lasted)}<br>${clientFacts(l.client)}</p>`
    + `<p class="message">${escape(clientOf(l.client))} wrote it ${l.writes.length} times with the same effect, the last time: ${escape(l.effect)}</p>`
    + (writes.length ? `<p>${writes.slice(-50).map((r) => link(`r${r}`, `r${r}`)).join(" ")}</p>` : "");
}

function showFold(e) {
  details.innerHTML = `<h2>${escape(e.no)} · ${e.members.length} times</h2><p class="facts">${moment(e.members[0].at)}, for ${span(e.at - e.members[0].at)}<br>${escape(e.who)}</p>`
    + `<p class="message">${escape(e.text)}</p><p>${e.members.slice(-50).map((m) => link(m.id, m.no)).join(" ")}</p>`;
}

const markNames = { list: "listed", get: "got", watch: "began to watch from", step: "had seen up to", end: "ended" };

function showMark(reader, mark) {
  const r = model.readers[reader];
  const what = mark.kind === "end" ? (mark.text ? "The server ended the watch" : "The client ended the watch") : `${markNames[mark.kind]} r${mark.revision}`;
  details.innerHTML = `<h2>${escape(r.client.name)} · ${escape(what)}</h2><p class="facts">${moment(mark.at)}<br>${escape(readerOf(r))} ${escape(mark.name || "")}<br>${clientFacts(r.client)}</p>`
    + (mark.text ? `<p class="message">${escape(mark.text)}</p>` : "")
    + (mark.newest > mark.revision ? `<p class="message">It read r${mark.revision} when r${mark.newest} was the newest.</p>` : "");
}

function showReader(i) {
  const r = model.readers[i], missing = model.unseen(r);
  const rows = r.marks.filter((m) => m.kind !== "step").slice(-200).map((m) => {
    const what = m.kind === "end" ? (m.text ? `ended: ${m.text}` : "ended by the client") : `${markNames[m.kind]} r${m.revision}`;
    return `<tr><td>${offset(m.at)}</td><td>${escape(what)}</td></tr>`;
  });
  details.innerHTML = `<h2>${escape(r.client.name)} · ${escape(readerOf(r))}</h2><p class="facts">${clientFacts(r.client)}</p>`
    + (missing.length ? `<h3 class="never">Not seen at the end</h3><p>${missing.slice(-50).map((rev) => link(`r${rev.revision}`, `r${rev.revision}`)).join(" ")}</p>` : '<p class="facts">It has seen every revision of its objects.</p>')
    + `<h3>Its requests</h3><table><tbody>${rows.join("")}</tbody></table>`;
}

const legend = [
  ["ADDED", "ADDED", "an object was added"], ["MODIFIED", "MODIFIED", "changed"], ["DELETED", "DELETED", "deleted"],
  ["refused", "refused", "a request was refused, or the server ended a watch"], ["idle", "idle", "a write changed nothing, or the object of a get did not exist"],
  ["MODIFIED", "list", "a list"], ["MODIFIED", "watch", "a watch began"], ["late", "late", "a read of a state older than the newest"],
  ["note", "note", "the hit of a fault, a compaction, a restore, an advance of the clock, a fork, or the end of a wait"], ["note", "injection", "a fault can hit from now on"],
];

// showOverview shows the summary and the legend.
function showOverview() {
  const parts = [], item = (html) => parts.push(`<tr><td>${html}</td></tr>`);
  for (const r of model.readers) {
    const missing = model.unseen(r);
    if (!missing.length) continue;
    const which = missing.slice(-6).map((rev) => link(`r${rev.revision}`, `r${rev.revision}`)).join(" ");
    item(`<b>${escape(r.client.name)}</b> has not seen ${plural(missing.length, "revision")} that it watches (${escape(readerOf(r))}): ${which}`);
  }
  const lines = model.lines.filter((e) => (e.note || e.loop || e.tone === "refused" || e.tone === "late") && (e.members || !model.folded.has(e.order)));
  const tally = (one, many, is) => {
    const some = lines.filter(is), n = some.reduce((sum, e) => sum + (e.members ? e.members.length : 1), 0);
    if (n) item(`${plural(n, one, many)}: ${some.slice(-8).map((e) => link(e.id, e.no)).join(" ")}`);
  };
  tally("refused request", "refused requests", (e) => (e.request || e.members) && e.tone === "refused");
  tally("watch ended by the server", "watches ended by the server", (e) => e.mark && e.tone === "refused");
  tally("stale read", "stale reads", (e) => e.mark && e.tone === "late");
  for (const e of lines.filter((l) => l.loop)) item(`${link(e.id, "loop")}: <b>${escape(e.who)}</b> ${escape(e.text)}`);
  const notes = { fault: ["fault", "faults"], compaction: ["compaction", "compactions"], clock: ["advance of the clock", "advances of the clock"], state: ["restore", "restores"] };
  for (const [kind, names] of Object.entries(notes)) tally(...names, (e) => e.note && e.note.kind === kind);
  details.innerHTML = `<h2>Summary</h2>${parts.length ? `<table><tbody>${parts.join("")}</tbody></table>` : '<p class="facts">Every watcher has seen every revision, and no request was refused.</p>'}`
    + `<h3>Marks</h3><div class="legend">${legend.map(([tone, glyph, text]) => `${glyphPicture(tone, glyph)}<span>${text}</span>`).join("")}</div>`
    + '<p class="facts explained">For a watcher, the grey line counts the revisions of its objects and the blue line those that it has seen. Where the blue line is lower, the watcher is behind. A green band is a wait until the server had settled, a violet bar a fault from its injection to its end. Select a revision to see what it changed and who saw it when.</p>';
}

// The chart has lanes over a common axis: writers, the store, server actions, and
// readers with their progress. It draws only what is in view, and combines marks
// that overlap.
//
// The lane of a watcher has two sorted lists of orders: commits, when its objects
// changed, and sightings, when it saw the changes.

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// printable makes what is not printable visible, except newlines and tabs.
function printable(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => (c === "\n" || c === "\t" ? c : `\\u{${c.codePointAt(0).toString(16)}}`));
}

function escape(text) {
  return printable(text).replace(/[&<>"']/g, (c) => escapes[c]);
}

// glyphs are the shapes of marks, centred on the origin.
const glyphs = {
  ADDED: '<circle class="body" r="6"/><path class="glyph" d="M-3 0h6M0-3v6"/>',
  MODIFIED: '<circle class="body" r="5"/>',
  DELETED: '<circle class="body" r="6"/><path class="glyph" d="M-3 0h6"/>',
  refused: '<path class="stroke" d="M-4-4l8 8M4-4l-8 8"/>',
  idle: '<circle class="stroke" r="4"/>',
  note: '<path class="fill" d="M1-7l-6 8h4l-1 6l6-8h-4z"/>',
  list: '<path class="fill" d="M0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z"/>',
  get: '<circle class="fill" r="3.5"/>',
  late: '<path class="stroke" d="M0-5l5 5l-5 5l-5-5z"/>',
  watch: '<path class="fill" d="M-3.5-4.5l7 4.5l-7 4.5z"/>',
  end: '<path class="stroke" d="M-4-4l8 8M4-4l-8 8"/>',
  left: '<path class="stroke" d="M0-5v10"/>',
};

function mark(id, x, y, tone, glyph, extra = "") {
  return `<g class="mark ${tone} ${extra}" data-id="${id}" transform="translate(${x.toFixed(1)},${y})"><circle class="hit" r="10"/>${glyphs[glyph]}</g>`;
}

// The heights of lanes. Those of dense are for a chart that would otherwise need to
// scroll.
const heights = { heading: 22, writer: 32, store: 44, reader: 46, reads: 32, notes: 32, lag: 32 };
const dense = { heading: 22, writer: 20, store: 40, reader: 34, reads: 20, notes: 24, lag: 24 };

// buildLanes returns the lanes with the events that pass the filter.
function buildLanes() {
  const lanes = [];
  const group = (title, members) => {
    if (members.length) lanes.push({ kind: "heading", title }, ...members);
  };
  const writers = new Map();
  for (const e of events) {
    const writes = e.revision || (e.request && !isRead(e.request));
    if (!writes || !shown(e)) continue;
    const c = (e.revision || e.request).client;
    laneOf(writers, c, { kind: "writer", title: c.name, client: c, events: [] }).events.push(e);
  }
  for (const w of writers.values()) {
    const n = w.events.filter((e) => e.revision).length, refused = w.events.filter((e) => e.tone === "refused").length;
    w.sub = `${n} write${n === 1 ? "" : "s"}${refused ? `, ${refused} refused` : ""}${w.client.user && w.client.user !== "admin" ? ` · ${w.client.user}` : ""}`;
  }
  group("Writers", [...writers.values()]);
  group("Store", [{ kind: "store", title: "revisions", sub: `newest r${story.revision}`, events: events.filter((e) => e.revision && shown(e)) }]);
  group("Watchers", watchLanes());
  group("Server actions", noteLanes());
  group("Reads", readLanes());
  return lanes;
}

// laneOf returns the lane of a client; fresh, which it adds, if there is none. A
// request that was refused before authentication has no user. It belongs to the
// lane with the same client name.
function laneOf(lanes, client, fresh) {
  const key = `${client.name}\0${client.user || ""}`;
  const known = lanes.get(key) || (!client.user && [...lanes.values()].find((l) => l.title === client.name));
  if (!known) lanes.set(key, fresh);
  return known || fresh;
}

function watchLanes() {
  const lanes = [];
  story.readers.forEach((r, i) => {
    if (r.kind !== "watch" || !concerns(r)) return;
    const lane = { kind: "reader", title: r.client.name, sub: readerOf(r), reader: i, commits: [], sightings: [] };
    for (const { rev, seen } of sightingsOf[i]) {
      if (!rev.changes.some(matches)) continue;
      lane.commits.push(rev.order);
      if (seen !== undefined) lane.sightings.push(seen);
    }
    lane.sightings.sort((a, b) => a - b);
    lanes.push(lane);
  });
  return lanes;
}

// readLanes returns a lane for each client that gets and lists.
function readLanes() {
  const lanes = new Map();
  const lane = (c) => laneOf(lanes, c, { kind: "reads", title: c.name, marks: [], events: [] });
  const listed = new Set(story.requests.map((q) => q.order)); // reads that failed are events
  story.readers.forEach((r, i) => {
    if (r.kind === "watch" || !concerns(r)) return;
    r.marks.forEach((m, j) => {
      if (listed.has(m.order)) return;
      if (!m.name || !filter.name || m.name.includes(filter.name)) lane(r.client).marks.push({ id: `m${i}-${j}`, mark: m });
    });
  });
  for (const e of events) {
    if (e.request && isRead(e.request) && shown(e)) lane(e.request.client).events.push(e);
  }
  for (const l of lanes.values()) {
    l.marks.sort((a, b) => a.mark.order - b.mark.order);
    const refused = l.events.filter((e) => e.tone === "refused").length;
    const stale = l.marks.filter((m) => m.mark.newest > m.mark.revision).length;
    const n = l.marks.length + l.events.length;
    l.sub = `${n} read${n === 1 ? "" : "s"}${stale ? `, ${stale} stale` : ""}${refused ? `, ${refused} refused` : ""}`;
  }
  return [...lanes.values()];
}

function noteLanes() {
  const lanes = [];
  const of = (...kinds) => events.filter((e) => e.note && !e.members && kinds.includes(e.note.kind) && shown(e));
  const lags = new Map();
  for (const e of of("lag", "thaw")) {
    const resource = e.note.resource || "all resources";
    if (!lags.has(resource)) lags.set(resource, { kind: "lag", title: "lag", sub: resource, events: [] });
    lags.get(resource).events.push(e);
  }
  lanes.push(...lags.values());
  for (const [title, kinds] of [["faults", ["fault"]], ["history and clock", ["compaction", "clock", "state"]]]) {
    const members = of(...kinds);
    if (members.length) lanes.push({ kind: "notes", title, sub: `${members.length}`, events: members });
  }
  return lanes;
}

const ruler = document.createElement("canvas").getContext("2d");

// textWidth returns the width of a text in a lane.
function textWidth(text) {
  ruler.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

// hasPlace reports whether a reader's mark has its own place on the axis. A watch
// event sent promptly is shown at the place of its revision.
function hasPlace(m) {
  if (m.kind !== "step") return true;
  const rev = revisionOf.get(m.revision);
  return !rev || m.at - rev.at > prompt;
}

// A Chart draws the lanes.
class Chart {
  constructor() {
    this.plot = document.getElementById("plot");
    this.labels = document.getElementById("labels");
    this.axis = document.getElementById("axis-marks");
    this.overview = document.getElementById("overview");
    this.mode = "steps";
    this.chosen = null;
    this.build();
  }

  // build applies the filter and the mode of the axis.
  build() {
    this.lanes = buildLanes();
    const moments = events.filter(shown).map((e) => ({ order: e.order, at: e.at }));
    for (const r of story.readers) {
      if (concerns(r)) moments.push(...r.marks.filter(hasPlace).map((m) => ({ order: m.order, at: m.at })));
    }
    moments.push({ order: story.ended.order, at: story.ended.at });
    this.scale = new Scale(moments, this.mode);
    this.view = new View(this.scale);
    let y = 0;
    this.labels.replaceChildren();
    const total = this.lanes.reduce((sum, lane) => sum + heights[lane.kind], 0);
    const used = total > this.room() ? dense : heights;
    for (const lane of this.lanes) {
      lane.y = y;
      lane.height = used[lane.kind];
      y += lane.height;
      this.labels.append(this.label(lane));
    }
    this.height = y;
    this.plot.setAttribute("height", y);
    this.showRecent();
  }

  // room returns the height that lanes can have without scrolling.
  room() {
    const chart = document.getElementById("chart"), ruler = document.getElementById("ruler");
    return parseFloat(getComputedStyle(chart).maxHeight) - ruler.offsetHeight - 2;
  }

  label(lane) {
    if (lane.kind === "heading") {
      const h = document.createElement("h2");
      h.textContent = lane.title;
      return h;
    }
    const el = document.createElement(lane.reader === undefined ? "div" : "button");
    el.className = "label";
    el.style.height = `${lane.height}px`;
    el.title = printable(`${lane.title}: ${lane.sub}`);
    el.innerHTML = `<b>${escape(lane.title)}</b>${lane.height > 24 ? `<small>${escape(lane.sub)}</small>` : ""}`;
    if (lane.reader !== undefined) {
      el.type = "button";
      el.dataset.reader = lane.reader;
    }
    return el;
  }

  // showRecent shows the end of a long story, where the failure is.
  showRecent() {
    const enough = 120, n = this.scale.places.length;
    if (this.mode === "steps" && n > enough * 1.5) this.view.show(this.scale.places[n - enough], this.scale.max);
    this.draw();
  }

  x(place) {
    return ((place - this.view.lo) / this.view.width) * this.width;
  }

  xOf(order) {
    return this.x(this.scale.place(order));
  }

  placeAt(x) {
    return this.view.lo + (x / this.width) * this.view.width;
  }

  inView(x) {
    return x > -12 && x < this.width + 12;
  }

  draw() {
    this.width = Math.max(100, this.plot.clientWidth);
    const out = [];
    this.lanes.forEach((lane, i) => {
      const kind = lane.kind === "heading" ? "heading" : i % 2 ? "stripe" : "";
      if (kind) out.push(`<rect class="${kind}" x="0" y="${lane.y}" width="${this.width}" height="${lane.height}"/>`);
    });
    this.cuts(out);
    for (const lane of this.lanes) this[`draw_${lane.kind}`](lane, out);
    this.rays(out);
    this.plot.innerHTML = out.join("");
    this.drawAxis();
    this.drawOverview();
  }

  // row draws marks in a lane. It combines marks that overlap into a cluster.
  row(members, y, out) {
    let run = [];
    const flush = () => {
      if (run.length === 1) {
        const m = run[0];
        out.push(mark(m.id, m.x, y, m.tone, m.glyph, m.id === this.chosen ? "chosen" : ""));
      } else if (run.length > 1) {
        const x0 = run[0].x, width = Math.max(8, run.at(-1).x - x0);
        const bad = run.some((m) => m.tone === "refused" || m.tone === "late");
        const looks = bad ? "bad" : run.every((m) => m.tone === run[0].tone) ? run[0].tone : "";
        out.push(`<rect class="cluster ${looks}" data-from="${run[0].order}" data-to="${run.at(-1).order}" x="${(x0 - 3).toFixed(1)}" y="${y - 6}" width="${(width + 6).toFixed(1)}" height="12" rx="6"/>`);
        if (width > 20) out.push(`<text class="count" x="${(x0 + width / 2).toFixed(1)}" y="${y + 3.5}">${run.length}</text>`);
        const chosen = run.find((m) => m.id === this.chosen);
        if (chosen) out.push(mark(chosen.id, chosen.x, y, chosen.tone, chosen.glyph, "chosen"));
      }
      run = [];
    };
    for (const m of members) {
      m.x = this.xOf(m.order);
      if (!this.inView(m.x)) continue;
      if (run.length && (m.x - run.at(-1).x > 7 || m.x - run[0].x > 36)) flush();
      run.push(m);
    }
    flush();
  }

  rail(lane, out, name = "rail") {
    const y = lane.y + lane.height / 2;
    out.push(`<line class="${name}" x1="0" x2="${this.width}" y1="${y}" y2="${y}"/>`);
    return y;
  }

  draw_heading() {}

  draw_writer(lane, out) {
    const y = this.rail(lane, out);
    this.row(lane.events.map((e) => ({ id: e.id, order: e.order, tone: e.tone, glyph: e.tone })), y, out);
  }

  draw_store(lane, out) {
    const y = lane.y + 28;
    out.push(`<line class="storeline" x1="0" x2="${this.width}" y1="${y}" y2="${y}"/>`);
    this.row(lane.events.map((e) => ({ id: e.id, order: e.order, tone: e.tone, glyph: e.tone })), y, out);
    let last = -Infinity;
    for (const e of lane.events) {
      const x = this.xOf(e.order);
      if (!this.inView(x) || x - last < 34) continue;
      const half = e.no.length * 3.2 + 2; // of the width of the text
      const at = Math.min(Math.max(x, half), this.width - half);
      out.push(`<text class="rev" x="${at.toFixed(1)}" y="${lane.y + 15}">${e.no}</text>`);
      last = at;
    }
  }

  // draw_reader draws two step functions: how often the objects of the reader had
  // changed, and how many of these changes it had seen. Where they differ, the
  // reader was behind.
  draw_reader(lane, out) {
    const reader = story.readers[lane.reader], base = lane.y + lane.height - 7;
    const count = (list, place) => Scale.before(list, this.orderAt(place)) + 1;
    const low = count(lane.sightings, this.view.lo), top = count(lane.commits, this.view.hi);
    const rise = Math.min(9, (lane.height - 18) / Math.max(1, top - low));
    const y = (n) => base - 4 - (n - low) * rise;
    const steps = [...lane.commits.map((order) => [order, 1, 0]), ...lane.sightings.map((order) => [order, 0, 1])].sort((a, b) => a[0] - b[0]);
    const first = this.xOf(reader.marks[0].order), gone = reader.marks.at(-1), end = gone.kind === "end" && !gone.text ? this.xOf(gone.order) : this.xOf(story.ended.order);
    let head = 0, seen = 0, x0 = first, late = "";
    const heads = [], seens = [], areas = [], minLag = Math.max(4, (0.15 * this.width) / this.view.width);
    const advance = (x) => {
      if (x <= x0 && heads.length) return;
      const a = Math.max(-5, Math.min(x0, this.width + 5)), b = Math.max(-5, Math.min(x, this.width + 5));
      if (b > a) {
        heads.push(`${heads.length ? "L" : "M"}${a.toFixed(1)} ${y(head).toFixed(1)}L${b.toFixed(1)} ${y(head).toFixed(1)}`);
        seens.push(`${seens.length ? "L" : "M"}${a.toFixed(1)} ${y(seen).toFixed(1)}L${b.toFixed(1)} ${y(seen).toFixed(1)}`);
        if (head > seen && b - a > minLag) {
          areas.push(`<rect class="behind" x="${a.toFixed(1)}" y="${y(head).toFixed(1)}" width="${(b - a).toFixed(1)}" height="${((head - seen) * rise).toFixed(1)}"/>`);
          late += `<rect class="lag" x="${a.toFixed(1)}" y="${lane.y + 2}" width="${Math.max(1, b - a).toFixed(1)}" height="2"/>`;
        }
      }
      x0 = x;
    };
    for (const [order, committed, sighted] of steps) {
      const x = this.xOf(order);
      if (x - x0 >= 0.7 || x < 0) advance(x);
      head += committed;
      seen += sighted;
    }
    advance(end);
    this.sessions(reader, base, out);
    out.push(...areas, late, `<path class="head" d="${heads.join("")}"/><path class="seen" d="${seens.join("")}"/>`);
    const members = [];
    reader.marks.forEach((m, j) => {
      const id = `m${lane.reader}-${j}`;
      if (m.kind === "end") members.push({ id, order: m.order, tone: m.text ? "refused" : "idle", glyph: m.text ? "end" : "left" });
      else if (m.kind !== "step") members.push({ id, order: m.order, tone: m.newest > m.revision ? "late" : "MODIFIED", glyph: m.newest > m.revision ? "late" : m.kind });
    });
    this.row(members, base, out);
    const behind = count(lane.commits, this.view.hi) - count(lane.sightings, this.view.hi);
    if (behind > 0 && end > 80) out.push(`<text class="chip" x="${Math.min(end, this.width) - 6}" y="${lane.y + 15}">${behind} not seen yet</text>`);
  }

  // sessions draws when a reader had a watch open.
  sessions(reader, y, out) {
    let from = null, last = this.xOf(reader.marks[0].order);
    const line = (name, a, b) => {
      a = Math.max(-5, a);
      b = Math.min(this.width + 5, b);
      if (b > a) out.push(`<line class="${name}" x1="${a.toFixed(1)}" x2="${b.toFixed(1)}" y1="${y}" y2="${y}"/>`);
    };
    for (const m of reader.marks) {
      const x = this.xOf(m.order);
      if (m.kind === "watch" && from === null) {
        line("closed", last, x);
        from = x;
      } else if (m.kind === "end" && from !== null) {
        line("open", from, x);
        from = null;
        last = x;
      }
    }
    if (from !== null) line("open", from, this.xOf(story.ended.order));
    else if (reader.marks.at(-1).text) line("closed", last, this.xOf(story.ended.order));
  }

  draw_reads(lane, out) {
    const y = this.rail(lane, out);
    const members = lane.marks.map(({ id, mark: m }) => {
      const late = m.newest > m.revision;
      return { id, order: m.order, tone: late ? "late" : "idle", glyph: late ? "late" : m.kind };
    });
    members.push(...lane.events.map((e) => ({ id: e.id, order: e.order, tone: e.tone, glyph: e.tone })));
    this.row(members.sort((a, b) => a.order - b.order), y, out);
  }

  draw_notes(lane, out) {
    const y = this.rail(lane, out);
    this.row(lane.events.map((e) => ({ id: e.id, order: e.order, tone: "note", glyph: "note" })), y, out);
    const places = lane.events.map((e) => this.xOf(e.order));
    lane.events.forEach((e, i) => {
      const x = places[i];
      if (x < 0 || x > this.width) return;
      // A text is drawn whole, at the side that has room for it, or replaced by the
      // revision that it names.
      const before = Math.max(0, places[i - 1] ?? 0), after = Math.min(this.width, places[i + 1] ?? this.width);
      for (const word of [e.text, (/\br\d+\b/.exec(e.text) || [])[0]]) {
        if (!word) continue;
        const width = 24 + textWidth(word);
        if (x + width < after) out.push(`<text class="word" x="${(x + 11).toFixed(1)}" y="${y + 4}">${escape(word)}</text>`);
        else if (places[i + 1] === undefined && x - width > before) out.push(`<text class="word" x="${(x - 11).toFixed(1)}" y="${y + 4}" text-anchor="end">${escape(word)}</text>`);
        else continue;
        break;
      }
    });
  }

  draw_lag(lane, out) {
    const y = this.rail(lane, out);
    lane.events.forEach((e, i) => {
      if (e.note.kind !== "lag") return;
      const next = lane.events[i + 1];
      const a = Math.max(-5, this.xOf(e.order)), b = Math.min(this.width + 5, this.xOf(next ? next.order : story.ended.order));
      if (b < 0 || a > this.width) return;
      out.push(`<rect class="span mark" data-id="${e.id}" x="${a.toFixed(1)}" y="${y - 8}" width="${Math.max(3, b - a).toFixed(1)}" height="16" rx="4"/>`);
      if (b - a > 60) out.push(`<text class="word" x="${(Math.max(a, 0) + 6).toFixed(1)}" y="${y + 4}">${escape(e.text.slice(0, (b - a) / 6.2))}</text>`);
    });
  }

  // cuts draws lines through all lanes at compactions, advances of the clock and
  // restores.
  cuts(out) {
    for (const e of events) {
      if (!e.note || e.members || !["compaction", "clock", "state"].includes(e.note.kind)) continue;
      const x = this.xOf(e.order);
      if (this.inView(x)) out.push(`<line class="cut ${e.note.kind}" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="0" y2="${this.height}"/>`);
    }
  }

  // rays draws lines from the selected revision to the readers that saw it.
  rays(out) {
    const e = eventOf.get(this.chosen);
    if (!e) return;
    const x = this.xOf(e.order);
    if (this.inView(x)) out.push(`<line class="cursor" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="0" y2="${this.height}"/>`);
    if (!e.revision) return;
    const store = this.lanes.find((l) => l.kind === "store");
    const writer = this.lanes.find((l) => l.kind === "writer" && l.events.includes(e));
    if (writer) out.push(`<line class="ray" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${writer.y + 14}" y2="${store.y + 28}"/>`);
    for (const [reader, order, at] of e.revision.seen || []) {
      const lane = this.lanes.find((l) => l.reader === reader);
      if (!lane) continue;
      const y = lane.y + lane.height / 2, y0 = store.y + 28;
      if (order === undefined) {
        out.push(`<path class="ray never" d="M${x.toFixed(1)} ${y}H${(this.width - 70).toFixed(1)}"/><text class="delay" x="${(this.width - 66).toFixed(1)}" y="${y + 4}">not seen</text>`);
        continue;
      }
      const x1 = this.xOf(order), late = at - e.at >= slow ? " slow" : "";
      out.push(`<path class="ray${late}" d="M${x.toFixed(1)} ${y0}L${x1.toFixed(1)} ${y}"/><circle class="ray-end${late}" cx="${x1.toFixed(1)}" cy="${y}" r="3"/>`);
      if (at > e.at) out.push(`<text class="delay" x="${(x1 + 6).toFixed(1)}" y="${y + 4}">+${span(at - e.at)}</text>`);
    }
  }

  // orderAt returns the order of the last moment at or before a place.
  orderAt(place) {
    return this.scale.orders[Scale.before(this.scale.places, place)] ?? -1;
  }

  drawAxis() {
    const out = [], s = this.scale;
    const first = Math.max(0, Scale.before(s.places, this.view.lo)), last = Scale.before(s.places, this.view.hi);
    let room = -Infinity;
    if (this.mode === "time") {
      const raw = (this.view.width / this.width) * 110, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
      for (let t = Math.ceil(this.view.lo / step) * step; t <= this.view.hi; t += step) {
        const x = this.x(t);
        if (t >= 0) out.push(`<line x1="${x}" x2="${x}" y1="16" y2="23"/><text x="${x + 3}" y="13">${offset(t * 1000)}</text>`);
      }
    } else {
      for (let i = first; i <= last; i++) {
        const x = this.x(s.places[i]);
        const pause = i > 0 ? s.times[i] - s.times[i - 1] : 0, before = i > 0 ? this.x(s.places[i - 1]) : x;
        if (pause >= 1e6 && x - before > 30 && x - 6 - before > 24) {
          out.push(`<text class="gap" text-anchor="middle" x="${((x + before) / 2).toFixed(1)}" y="22">${span(pause)}</text>`);
        }
        if (x < room || x > this.width - 60 || x < 0) continue;
        out.push(`<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="14" y2="23"/><text x="${(x + 3).toFixed(1)}" y="12">${offset(s.times[i])}</text>`);
        room = x + 110;
      }
    }
    this.axis.innerHTML = out.join("");
  }

  // drawOverview draws the number of events along the whole axis, and the view.
  drawOverview() {
    const canvas = this.overview, ratio = window.devicePixelRatio || 1, w = this.width, h = 26;
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const g = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    g.scale(ratio, ratio);
    const all = this.scale.max - this.scale.min, at = (place) => ((place - this.scale.min) / all) * w;
    const bins = new Map();
    for (const e of events) {
      if (!shown(e)) continue;
      const i = Math.floor(at(this.scale.place(e.order)) / 3), bin = bins.get(i) || { n: 0, bad: 0, note: 0 };
      bin.n++;
      if (e.tone === "refused" || e.tone === "late") bin.bad++;
      if (e.tone === "note") bin.note++;
      bins.set(i, bin);
    }
    const most = Math.max(1, ...[...bins.values()].map((b) => b.n));
    for (const [i, bin] of bins) {
      const height = 3 + (h - 8) * Math.sqrt(bin.n / most);
      g.fillStyle = color("--store");
      g.globalAlpha = 0.55;
      g.fillRect(i * 3, h - height, 2.4, height);
      g.globalAlpha = 1;
      if (bin.bad || bin.note) {
        g.fillStyle = color(bin.bad ? "--refused" : "--note");
        g.fillRect(i * 3, h - 4, 2.4, 4);
      }
    }
    const a = at(this.view.lo), b = at(this.view.hi);
    g.fillStyle = color("--glow");
    g.globalAlpha = 0.12;
    g.fillRect(a, 0, b - a, h);
    g.globalAlpha = 0.8;
    g.fillRect(a, 0, 1.5, h);
    g.fillRect(b - 1.5, 0, 1.5, h);
  }
}

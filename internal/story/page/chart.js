// The chart has lanes over a common axis. It draws only what is in view, and combines marks
// that overlap.

class Chart {
  constructor(model) {
    this.model = model;
    this.box = byId("chart");
    this.plot = byId("plot");
    this.canvas = byId("canvas");
    this.labels = byId("labels");
    this.axis = byId("axis-marks");
    this.ticks = []; // what the axis says, for tests and for drawing
    this.overview = byId("overview");
    this.mode = "steps";
    this.chosen = null; // the id of an event or a mark
    this.moment = null; // the order of the revision cursor
    this.following = false;
    this.span = 0; // the width of the view while it follows
    this.width = 100; // of the plot, until measure reads it
    this.lines = []; // the events of the list, which pass the filter
    this.shapes = []; // what was drawn, for clicks
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.picture = document.createElement("canvas"); // the overview without the view
    this.rebuild();
  }

  // measure reads the sizes of the page. To read them in each frame would lay the page out in each.
  measure() {
    this.width = Math.max(100, this.plot.clientWidth);
    this.room = Math.min(parseFloat(getComputedStyle(this.box).maxHeight), this.leftOver()) - byId("ruler").offsetHeight - 2;
    this.shownHeight = this.box.clientHeight - byId("ruler").offsetHeight;
    this.top = this.box.scrollTop;
  }

  // leftOver returns the height that the rest of the page leaves in a window that does not scroll.
  leftOver() {
    const main = this.box.parentElement, { display, paddingBottom } = getComputedStyle(main);
    if (display !== "flex") return Infinity;
    const pane = document.querySelector(".pane:not([hidden])");
    return main.clientHeight - parseFloat(paddingBottom) - byId("keys").offsetHeight - byId("tabs").offsetHeight - parseFloat(getComputedStyle(pane).minHeight);
  }

  // rebuild applies the filter and the mode of the axis to the whole log.
  rebuild() {
    this.scale = new Scale(this.mode);
    this.lanes = new Lanes(this.model);
    this.model.changed = false;
    for (const thing of this.model.log) this.take(thing);
    this.lines = this.model.lines.filter((e) => this.model.isLine(e) && shown(e));
    this.scale.finish(this.model.ended);
    this.view = new View(this.scale);
    this.arranged = -1;
    this.bins = null;
    this.showRecent();
  }

  // add adds things that are in the log since.
  add(things) {
    if (this.model.changed || this.model.forget()) {
      const { lo, hi } = this.view;
      this.rebuild();
      this.view.show(lo, hi);
      return;
    }
    const wholly = this.view.hi >= this.scale.max && this.view.lo <= this.scale.min;
    for (const thing of things) this.take(thing);
    if (things.some((t) => t.id)) {
      const first = things.find((t) => t.id).order, kept = before(this.lines, first - 1, byOrder) + 1;
      this.lines.length = kept;
      for (let i = before(this.model.lines, first - 1, byOrder) + 1; i < this.model.lines.length; i++) {
        const e = this.model.lines[i];
        if (this.model.isLine(e) && shown(e)) this.lines.push(e);
      }
    }
    this.scale.finish(this.model.ended);
    if (wholly && !this.following) this.view.show(this.scale.min, this.scale.max);
  }

  take(thing) {
    const passes = thing.id ? shown(thing) : readerShown(this.model.readers[thing.reader]);
    const place = passes && this.hasPlace(thing) ? this.scale.append(thing) : this.scale.place(thing.order);
    this.lanes.take(thing, place, passes, thing.note && this.scale.place(thing.note.came || 0));
  }

  // hasPlace reports whether a thing has its own place on the axis. A watch event that was sent promptly
  // is at the place of its revision.
  hasPlace({ mark: m }) {
    if (!m || m.kind !== "step") return true;
    const rev = this.model.revisions.get(m.revision);
    return !rev || m.at - rev.at > prompt;
  }

  // arrange gives the lanes their places if there are others than before, and updates their labels, at
  // most ten times a second.
  arrange() {
    const now = performance.now();
    if (this.arranged !== this.lanes.count) {
      this.arranged = this.lanes.count;
      this.measure();
      this.rows = this.lanes.arrange(this.room);
      this.rows.forEach((lane, i) => { lane.stripe = i % 2 === 1; });
      const last = this.rows.at(-1);
      this.height = last.y + last.height;
      this.plot.style.height = `${this.height}px`;
      this.labels.replaceChildren(...this.rows.map((lane) => this.label(lane)));
      this.measure();
    } else if (now - this.labelled < 100) {
      later(100);
      return;
    }
    this.labelled = now;
    for (const lane of this.rows) {
      const text = lane.sub && printable(lane.sub(lane));
      if (text === lane.said) continue;
      lane.said = text;
      lane.element.title = `${printable(lane.title)}: ${text}`;
      if (lane.element.lastChild.tagName === "SMALL") lane.element.lastChild.textContent = text;
    }
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
    el.innerHTML = `<b>${escape(lane.title)}</b>${lane.height > 24 ? "<small></small>" : ""}`;
    if (lane.reader !== undefined) {
      el.type = "button";
      el.dataset.reader = lane.reader;
    }
    lane.element = el;
    lane.said = undefined;
    return el;
  }

  // showRecent shows the end of a long story, where the failure is.
  showRecent() {
    const enough = 120, { places } = this.scale;
    if (this.mode === "steps" && places.length > enough * 1.5) this.view.show(places[places.length - enough], this.scale.max);
  }

  // follow moves the view a part of the way to the end, with the width of span. It reports whether
  // it has not arrived.
  follow() {
    const { min, max } = this.scale, left = max - this.view.hi, pixel = this.view.width / this.width;
    const jump = left < pixel || left > 3 * this.view.width || this.still.matches;
    const hi = jump ? max : this.view.hi + Math.max(left * 0.2, pixel);
    this.view.show(hi - Math.min(this.span, max - min), hi);
    return !jump;
  }

  x(place) {
    return ((place - this.view.lo) / this.view.width) * this.width;
  }

  placeAt(x) {
    return this.view.lo + (x / this.width) * this.view.width;
  }

  // orderAt returns the position in the story at a place.
  orderAt(place) {
    const { places, orders } = this.scale, i = before(places, place);
    return i < 0 ? 0 : orders[i];
  }

  inView(x) {
    return x > -12 && x < this.width + 12;
  }

  // range returns the index of the first item that is in view, and that after the last one.
  range(items) {
    const margin = (12 / this.width) * this.view.width;
    return [before(items, this.view.lo - margin, byPlace) + 1, before(items, this.view.hi + margin, byPlace) + 1];
  }

  // visible returns the items that are in view.
  visible(items) {
    return items.slice(...this.range(items));
  }

  draw() {
    this.arrange();
    const { top } = this, height = Math.min(this.height, this.shownHeight);
    const out = [];
    const rows = this.rows.filter((lane) => lane.y + lane.height > top && lane.y < top + height);
    rows.forEach((lane) => {
      const look = lane.kind === "heading" ? "heading" : lane.stripe ? "stripe" : "";
      if (look) out.push({ shape: "rect", look, x: 0, y: lane.y, width: this.width, height: lane.height });
    });
    this.drawBands(out);
    for (const lane of rows) this[lane.kind](lane, out);
    this.drawChosen(out);
    this.shapes = out;
    const g = sized(this.canvas, this.width, height);
    g.translate(0, -top);
    paint(g, out);
    this.drawAxis();
    this.drawOverview();
  }

  // row draws marks in a lane. It combines marks that overlap into a cluster: each at most 7 pixels
  // from the one before, and at most 36 from the first. It searches for the ends of clusters, so that a
  // lane with many items costs no more than its width.
  row(items, y, out) {
    const [lo, end] = this.range(items), perPixel = this.view.width / this.width, chosen = this.indexOfChosen(items);
    for (let first = lo; first < end;) {
      let last = first;
      for (;;) {
        const limit = Math.min(items[last].place + 7 * perPixel, items[first].place + 36 * perPixel);
        const next = before(items, limit, byPlace, last, end);
        if (next <= last) break;
        last = next;
      }
      const from = items[first], to = items[last], x = this.x(from.place), has = chosen >= first && chosen <= last;
      if (last > first) {
        out.push({
          shape: "cluster", x: x - 3, y, width: Math.max(8, this.x(to.place) - x) + 6, count: last - first + 1, from: from.place, to: to.place,
          bad: isBad(from) || to.bad > from.bad, tone: to.tones === from.tones ? from.tone : "",
        });
      }
      const single = last === first ? from : has && items[chosen];
      if (single) out.push({ shape: "mark", id: single.id, x: this.x(single.place), y, tone: single.tone, glyph: single.glyph, chosen: has });
      first = last + 1;
    }
  }

  // indexOfChosen returns the index of what is selected among items, -1 if it is not there.
  indexOfChosen(items) {
    const e = this.chosen && (this.model.events.get(this.chosen) || this.model.markOf(this.chosen)), order = e && (e.order ?? e.mark.order);
    for (let i = e ? before(items, order, byOrder) : -1; i >= 0 && items[i].order === order; i--) {
      if (items[i].id === this.chosen) return i;
    }
    return -1;
  }

  rail(lane, out, look = "rail") {
    const y = lane.y + lane.height / 2;
    out.push({ shape: "line", look, points: [[0, y], [this.width, y]] });
    return y;
  }

  heading() {}

  writer(lane, out) {
    this.row(lane.items, this.rail(lane, out), out);
  }

  reads(lane, out) {
    this.row(lane.items, this.rail(lane, out), out);
  }

  store(lane, out) {
    const y = lane.y + 28;
    out.push({ shape: "line", look: "storeline", points: [[0, y], [this.width, y]] });
    this.row(lane.items, y, out);
    const [lo, end] = this.range(lane.items);
    for (let i = lo; i < end;) {
      const item = lane.items[i], half = item.no.length * 3.2 + 2; // of the width of the text
      const x = Math.min(Math.max(this.x(item.place), half), this.width - half);
      out.push({ shape: "text", look: "rev", x, y: lane.y + 15, text: item.no });
      i = Math.max(i, before(lane.items, this.placeAt(x + 34), byPlace, i, end)) + 1;
    }
  }

  // reader draws two step functions: how often the objects of the watcher had changed, and how many of
  // these changes it had seen. Where they differ, the watcher was behind.
  reader(lane, out) {
    const base = lane.y + lane.height - 7, low = seenAt(lane, this.view.lo), top = headAt(lane, this.view.hi);
    const rise = Math.min(9, (lane.height - 18) / Math.max(1, top - low)), y = (n) => base - 4 - (n - low) * rise;
    const last = lane.sessions.at(-1), gone = last && last.to !== undefined && !last.refused;
    const from = Math.max(0, this.x(lane.began)), to = Math.min(this.width, this.x(gone ? last.to : this.scale.end));
    const heads = [], seens = [], enough = Math.max(4, (0.15 * this.width) / this.view.width);
    let state, since;
    for (const x of this.turns(lane, from, to)) {
      const place = this.placeAt(x), head = headAt(lane, place), seen = seenAt(lane, place), ends = x === to;
      if (!state || state.head !== head || state.seen !== seen || ends) {
        if (state && state.head > state.seen && x - since > enough) {
          out.push({ shape: "rect", look: "behind", x: since, y: y(state.head), width: x - since, height: (state.head - state.seen) * rise });
          out.push({ shape: "rect", look: "lag", x: since, y: lane.y + 2, width: x - since, height: 2 });
        }
        if (state) {
          heads.push([x, y(state.head)]);
          seens.push([x, y(state.seen)]);
        }
        heads.push([x, y(head)]);
        seens.push([x, y(seen)]);
        state = { head, seen };
        since = x;
      }
    }
    let end = lane.began;
    for (const s of lane.sessions) {
      this.segment("closed", end, s.from, base, out);
      end = s.to ?? this.scale.end;
      this.segment("open", s.from, end, base, out);
    }
    if (last && last.refused) this.segment("closed", end, this.scale.end, base, out);
    out.push({ shape: "line", look: "head", points: heads }, { shape: "line", look: "seen", points: seens });
    this.row(lane.items, base, out);
    const behind = headAt(lane, this.view.hi) - seenAt(lane, this.view.hi);
    if (behind > 0 && to > 80 && !gone) out.push({ shape: "text", look: "chip", x: to - 3, y: lane.y + 14, text: `${behind} not seen yet` });
  }

  // turns returns where the lines of a watcher can have steps between two positions, which are the first
  // and the last: in each pixel, or where its changes and sightings are if these are fewer.
  turns(lane, from, to) {
    if (to < from) return [];
    const a = this.placeAt(from), b = this.placeAt(to), all = [from, to];
    const parts = [lane.commitPlaces, lane.sightPlaces].map((places) => [places, before(places, a) + 1, before(places, b) + 1]);
    if (parts.reduce((n, [, lo, end]) => n + end - lo, 0) > to - from) {
      for (let x = from + 1; x < to; x++) all.push(x);
    } else {
      for (const [places, lo, end] of parts) {
        // The step is in the first pixel that begins after the change.
        for (let i = lo; i < end; i++) all.push(Math.min(to, from + Math.floor(this.x(places[i]) - from) + 1));
      }
    }
    return [...new Set(all)].sort((x, y) => x - y);
  }

  // segment draws a horizontal line between two places.
  segment(look, from, to, y, out) {
    const a = Math.max(-5, this.x(from)), b = Math.min(this.width + 5, this.x(to));
    if (b > a) out.push({ shape: "line", look, points: [[a, y], [b, y]] });
  }

  notes(lane, out) {
    const y = this.rail(lane, out), { ended } = this.model;
    for (const span of lane.spans) {
      const end = span.until && span.until <= ended.at ? this.scale.placeOfTime(span.until) : this.scale.end;
      this.bar("injected", span, span.to ?? end, y, out);
    }
    this.row(lane.items, y, out);
    const marks = this.visible(lane.items).map((item) => ({ item, x: this.x(item.place) })).filter(({ x }) => x >= 0 && x <= this.width);
    let taken = 0; // by the text before
    marks.forEach(({ item, x }, i) => {
      // A text is drawn whole, at the side that has room for it, or replaced by the
      // revision that it names.
      const left = Math.max(taken, marks[i - 1]?.x ?? 0), right = marks[i + 1]?.x ?? this.width;
      for (const word of [item.text, (/\br\d+\b/.exec(item.text) || [])[0]]) {
        if (!word) continue;
        const width = 24 + textWidth(word);
        if (x + width < right) {
          out.push({ shape: "text", look: "word", x: x + 11, y: y + 4, text: printable(word) });
          taken = x + width;
        } else if (!marks[i + 1] && x - width > left) out.push({ shape: "text", look: "word", x: x - 11, y: y + 4, text: printable(word), align: "right" });
        else continue;
        break;
      }
    });
  }

  lag(lane, out) {
    const y = this.rail(lane, out);
    lane.items.forEach((item, i) => {
      if (item.kind === "lag") this.bar("span", item, lane.items[i + 1]?.place ?? this.scale.end, y, out);
    });
  }

  // bar draws an item that lasts until a place, with its text if it has one.
  bar(look, item, to, y, out) {
    const a = Math.max(-5, this.x(item.place)), b = Math.min(this.width + 5, this.x(to));
    if (b < 0 || a > this.width) return;
    out.push({ shape: "rect", look, id: item.id, x: a, y: y - 8, width: Math.max(3, b - a), height: 16, round: 4 });
    const text = item.text && printable(item.text), fits = Math.floor((b - Math.max(a, 0) - 12) / 6.2); // characters
    if (text && b - a > 60) out.push({ shape: "text", look: "word", x: Math.max(a, 0) + 6, y: y + 4, text: text.length > fits ? `${text.slice(0, Math.max(0, fits - 1))}…` : text });
  }

  // drawBands draws bands and lines through all lanes at what concerns all of them.
  drawBands(out) {
    const { bands } = this.lanes;
    for (let i = before(bands, this.view.lo, (b) => b.place) + 1; i < bands.length && bands[i].from <= this.view.hi; i++) {
      const a = Math.max(-5, this.x(bands[i].from)), b = Math.min(this.width + 5, this.x(bands[i].place));
      out.push({ shape: "rect", look: "settle", x: a, y: 0, width: Math.max(2, b - a), height: this.height });
    }
    for (const { place, kind } of this.visible(this.lanes.cuts)) {
      const x = this.x(place);
      out.push({ shape: "line", look: `cut ${kind}`, points: [[x, 0], [x, this.height]] });
    }
  }

  // drawChosen draws the revision cursor, and lines from the selected revision to the readers
  // that saw it.
  drawChosen(out) {
    const vertical = (look, order) => {
      const x = this.x(this.scale.place(order));
      if (this.inView(x)) out.push({ shape: "line", look, points: [[x, 0], [x, this.height]] });
      return x;
    };
    if (this.moment !== null) vertical("moment", this.moment);
    const e = this.model.events.get(this.chosen);
    if (!e) return;
    const x = vertical("cursor", e.order), store = this.lanes.groups.Store.get("");
    if (!e.revision) return;
    const writer = [...this.lanes.groups.Writers.values()].find((l) => l.title === e.client.name);
    if (writer) out.push({ shape: "line", look: "ray", points: [[x, writer.y + 14], [x, store.y + 28]] });
    for (const lane of this.lanes.groups.Watchers.values()) {
      const m = this.model.sighting(this.model.readers[lane.reader], e.revision), y = lane.y + lane.height / 2;
      if (m === undefined) continue;
      if (m === null) {
        const low = lane.y + lane.height - 11; // below the number of what it has not seen
        out.push({ shape: "line", look: "ray never", points: [[x, low], [this.width - 70, low]] }, { shape: "text", look: "delay", x: this.width - 64, y: low + 4, text: "not seen" });
        continue;
      }
      const to = this.x(this.scale.place(m.order)), late = m.at - e.at >= slow;
      out.push({ shape: "line", look: late ? "ray slow" : "ray", points: [[x, store.y + 28], [to, y]] }, { shape: "dot", x: to, y, late });
      if (m.at > e.at) out.push({ shape: "text", look: "delay", x: to + 6, y: y + 4, text: `+${span(m.at - e.at)}` });
    }
  }

  // hit returns the shape at a point of the plot that has an id or stands for several marks.
  hit(x, y) {
    y += this.top;
    return this.shapes.findLast((s) => {
      if (s.shape === "mark") return Math.hypot(s.x - x, s.y - y) <= 10;
      if (s.shape === "cluster") return x >= s.x && x <= s.x + s.width && Math.abs(y - s.y) <= 8;
      return s.id && x >= s.x && x <= s.x + s.width && y >= s.y && y <= s.y + s.height;
    });
  }

  drawAxis() {
    const s = this.scale;
    this.ticks = [];
    const tick = (x, text) => this.ticks.push({ x, text });
    if (this.mode === "time") {
      const raw = (this.view.width / this.width) * 110, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
      for (let t = Math.ceil(this.view.lo / step) * step; t <= this.view.hi; t += step) {
        if (t >= 0) tick(this.x(t), offset(t * 1000));
      }
    } else {
      const sparse = Math.max(1, Math.floor(this.view.width / this.width)); // places per pixel
      let room = -Infinity, said = "";
      for (let i = Math.max(0, before(s.places, this.view.lo)); i < s.places.length && s.places[i] <= this.view.hi; i += sparse) {
        const x = this.x(s.places[i]), left = i > 0 ? this.x(s.places[i - 1]) : x, pause = i > 0 ? s.times[i] - s.times[i - 1] : 0;
        if (pause >= 1e6 && x - left > 30) this.ticks.push({ x: (x + left) / 2, text: span(pause), gap: true });
        if (x < room || x > this.width - 60 || x < 0) continue;
        const text = offset(s.times[i]);
        if (text === said) continue;
        tick(x, text);
        said = text;
        room = x + 110;
      }
    }
    const out = [];
    for (const { x, text, gap } of this.ticks) {
      if (gap) out.push({ shape: "text", look: "gap", x, y: 22, text });
      else out.push({ shape: "line", look: "tick", points: [[x, 14], [x, 23]] }, { shape: "text", look: "time", x: x + 3, y: 12, text });
    }
    paint(sized(this.axis, this.width, 23), out);
  }

  // drawOverview draws the number of events along the whole axis, and the view.
  drawOverview() {
    const w = this.width, h = 26;
    const all = this.scale.max - this.scale.min, at = (place) => Math.round(2 * ((place - this.scale.min) / all) * w) / 2;
    const a = at(this.view.lo), b = at(this.view.hi), said = [w, a, b, window.devicePixelRatio].join(" "), others = this.countBins(w);
    if (others) this.drawBins(sized(this.picture, w, h), h);
    if (!others && said === this.overviewSaid) return;
    this.overviewSaid = said;
    const g = sized(this.overview, w, h);
    g.drawImage(this.picture, 0, 0, w, h);
    g.fillStyle = colors["--glow"];
    g.globalAlpha = 0.12;
    g.fillRect(a, 0, b - a, h);
    g.globalAlpha = 0.8;
    g.fillRect(a, 0, 1.5, h);
    g.fillRect(b - 1.5, 0, 1.5, h);
  }

  drawBins(g, h) {
    const most = this.bins.reduce((max, b) => Math.max(max, b.n), 1);
    this.bins.forEach((bin, i) => {
      if (!bin.n) return;
      const height = 3 + (h - 8) * Math.sqrt(bin.n / most);
      g.globalAlpha = 0.55;
      g.fillStyle = colors["--store"];
      g.fillRect(i * 3, h - height, 2.4, height);
      g.globalAlpha = 1;
      g.fillStyle = colors[bin.bad ? "--refused" : "--note"];
      if (bin.bad || bin.note) g.fillRect(i * 3, h - 4, 2.4, 4);
    });
  }

  // countBins counts the events for the overview, at most twice a second while they come, and less often
  // if there are many. It reports whether the counts are others than before.
  countBins(width) {
    const now = performance.now(), n = Math.ceil(width / 3);
    if (this.bins && this.bins.length === n) {
      if (this.counted === this.lines.length) return false;
      const pause = 500 + this.lines.length / 50;
      if (now - this.countedAt < pause) {
        later(pause);
        return false;
      }
    }
    this.counted = this.lines.length;
    this.countedAt = now;
    this.bins = Array.from({ length: n }, () => ({ n: 0, bad: 0, note: 0 }));
    const { orders, places, min, max } = this.scale;
    let i = 0;
    for (const e of this.lines) {
      while (i < orders.length - 1 && orders[i] < e.order) i++;
      const bin = this.bins[Math.min(n - 1, Math.floor((((places[i] ?? 0) - min) / (max - min)) * n))];
      if (!bin) continue;
      bin.n++;
      if (e.tone === "refused" || e.tone === "late") bin.bad++;
      if (e.tone === "note") bin.note++;
    }
    return true;
  }
}

// sized returns the context of a canvas of a size in CSS pixels, empty and with the transformation of the
// screen. To set the size of a canvas costs more than to clear it.
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, g = canvas.getContext("2d"), w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  } else {
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, w, h);
  }
  g.globalAlpha = 1;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return g;
}

let waiting = 0; // the timer of later

// later draws after a number of milliseconds, for what is not drawn in each frame.
function later(ms) {
  waiting ||= setTimeout(() => {
    waiting = 0;
    redraw();
  }, ms);
}

const ruler = document.createElement("canvas").getContext("2d");

// textWidth returns the width of a text in a lane.
function textWidth(text) {
  ruler.font = `11px ${colors.font}`;
  return ruler.measureText(text).width;
}

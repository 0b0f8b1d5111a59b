// The list of events. Only the rows in view are in the document.

const rowHeight = 25, batch = 4;

class List {
  constructor(chart) {
    this.chart = chart;
    this.box = byId("events");
    this.rows = byId("rows");
    this.followed = 0; // when follow has drawn
    this.again = 0; // the timer of follow
    this.first = 0; // the index of the first row
    this.of = new Map(); // the elements of the rows, by the ids of their events
    this.box.addEventListener("scroll", () => this.firstRow() === this.first || this.draw());
    new ResizeObserver(() => (this.chart.following ? this.toEnd() : this.draw())).observe(this.box);
  }

  // firstRow returns the index of the first row to draw. Rows come and go a few at a time.
  firstRow(top = this.box.scrollTop) {
    return Math.max(0, Math.floor(top / rowHeight / batch) - 1) * batch;
  }

  // draw draws the rows in view. A row that was in view before keeps its element.
  draw(top = this.box.scrollTop) {
    const { lines, model } = this.chart, n = lines.length, height = this.box.clientHeight || 400, first = this.firstRow(top);
    const shown = lines.slice(first, first + Math.ceil(height / rowHeight) + 3 * batch), ids = new Set(shown.map((e) => e.id));
    this.first = first;
    for (const [id, row] of this.of) {
      if (ids.has(id)) continue;
      row.remove();
      this.of.delete(id);
    }
    let after = null;
    shown.forEach((e, i) => {
      const row = this.row(e), where = `${first + i + 1} ${n} ${e.id === this.chart.chosen}`;
      if (row.where !== where) Object.assign(row, { where, ariaPosInSet: first + i + 1, ariaSetSize: n, ariaSelected: e.id === this.chart.chosen });
      if (after ? after.nextSibling !== row : this.rows.firstChild !== row) this.rows.insertBefore(row, after ? after.nextSibling : this.rows.firstChild);
      after = row;
    });
    this.rows.style.height = `${n * rowHeight}px`;
    this.rows.style.paddingTop = `${first * rowHeight}px`;
    const omitted = [];
    if (model.earlier) omitted.push(`${model.earlier} earlier revisions are not shown.`);
    if (model.gaps) omitted.push("Some events were omitted, because there were too many.");
    if (!n) omitted.push(model.log.length ? "No events match the filter." : "Nothing has happened yet.");
    const said = omitted.join(" ");
    if (byId("omitted").textContent !== said) byId("omitted").textContent = said;
    byId("omitted").hidden = !said;
    if (this.of.has(this.chart.chosen)) this.box.setAttribute("aria-activedescendant", `e-${this.chart.chosen}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  // row returns the element of an event.
  row(e) {
    let row = this.of.get(e.id);
    if (!row) {
      row = document.createElement("div");
      Object.assign(row, { id: `e-${e.id}`, role: "option" });
      row.dataset.id = e.id;
      this.of.set(e.id, row);
    }
    const said = [e.at, e.tone, e.no, e.who, e.text].join("\0");
    if (row.said === said) return row;
    Object.assign(row, { said, className: `event ${e.tone}`, title: printable(`${e.who} ${e.text}`) });
    row.innerHTML = `<time>${offset(e.at)}</time><span class="no">${escape(e.no)}</span><span class="what"><span class="who">${escape(e.who)}</span> ${escape(e.text)}</span>`;
    return row;
  }

  // reveal scrolls until an event is in view.
  reveal(id) {
    const e = this.chart.model.events.get(id), i = e ? this.chart.lines.indexOf(e) : -1;
    if (i < 0) return;
    const y = i * rowHeight, { scrollTop, clientHeight } = this.box;
    if (y < scrollTop) this.box.scrollTop = y;
    else if (y + rowHeight > scrollTop + clientHeight) this.box.scrollTop = y + rowHeight - clientHeight;
  }

  // follow draws what has arrived: the end, if the chart follows it. Nobody can read a list that changes
  // more often than four times a second.
  follow() {
    const left = 250 - (performance.now() - this.followed);
    if (left > 0) {
      this.again ||= setTimeout(() => {
        this.again = 0;
        this.follow();
      }, left);
      return;
    }
    this.followed = performance.now();
    if (this.chart.following) this.toEnd();
    else this.draw();
  }

  // toEnd draws the end and scrolls there.
  toEnd() {
    this.draw(this.chart.lines.length * rowHeight - (this.box.clientHeight || 400));
    this.box.scrollTop = this.box.scrollHeight;
  }
}

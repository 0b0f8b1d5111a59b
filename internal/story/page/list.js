// The list of events. Only the rows in view are in the document.

const rowHeight = 25;

class List {
  constructor(chart) {
    this.chart = chart;
    this.box = byId("events");
    this.rows = byId("rows");
    this.box.addEventListener("scroll", () => this.draw());
  }

  draw() {
    const { lines, model } = this.chart, n = lines.length, first = Math.max(0, Math.floor(this.box.scrollTop / rowHeight) - 4);
    const last = Math.min(n, first + Math.ceil((this.box.clientHeight || 400) / rowHeight) + 8);
    this.rows.style.height = `${n * rowHeight}px`;
    this.rows.style.paddingTop = `${first * rowHeight}px`;
    this.rows.innerHTML = lines.slice(first, last).map((e, i) => this.row(e, first + i, n)).join("");
    const omitted = [];
    if (model.earlier) omitted.push(`${model.earlier} earlier revisions are not shown.`);
    if (model.gaps) omitted.push("Some events were omitted, because there were too many.");
    if (!n) omitted.push(model.log.length ? "No events match the filter." : "Nothing has happened yet.");
    byId("omitted").textContent = omitted.join(" ");
    byId("omitted").hidden = !omitted.length;
    if (document.getElementById(`e-${this.chart.chosen}`)) this.box.setAttribute("aria-activedescendant", `e-${this.chart.chosen}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  row(e, i, n) {
    return `<div class="event ${e.tone}" role="option" id="e-${e.id}" data-id="${e.id}" aria-selected="${e.id === this.chart.chosen}" aria-posinset="${i + 1}" aria-setsize="${n}" title="${escape(`${e.who} ${e.text}`)}">`
      + `<time>${offset(e.at)}</time><span class="no">${escape(e.no)}</span><span class="what"><span class="who">${escape(e.who)}</span> ${escape(e.text)}</span></div>`;
  }

  // reveal scrolls until an event is in view.
  reveal(id) {
    const e = this.chart.model.events.get(id), i = e ? this.chart.lines.indexOf(e) : -1;
    if (i < 0) return;
    const y = i * rowHeight, { scrollTop, clientHeight } = this.box;
    if (y < scrollTop) this.box.scrollTop = y;
    else if (y + rowHeight > scrollTop + clientHeight) this.box.scrollTop = y + rowHeight - clientHeight;
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }
}

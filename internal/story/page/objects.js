// The objects at a revision: tables by resource, one object with its history, and what each client
// sees of it.

// at is what the pane shows. revision is 0 for the newest one.
const at = { revision: 0, resource: "", object: null };

class Objects {
  constructor() {
    this.slider = byId("slider");
    this.asked = 0; // numbers the requests, so that an older answer does not replace a newer one
    this.again = 0;
    this.opened = false; // by a click, and not drawn yet
    this.slider.addEventListener("input", () => this.show({ revision: +this.slider.value }));
    byId("older").addEventListener("click", () => this.step(-1));
    byId("newer").addEventListener("click", () => this.step(1));
    byId("newest").addEventListener("click", () => this.show({ revision: 0 }));
    byId("table-name").addEventListener("input", () => this.read());
    byId("pane-objects").addEventListener("click", (e) => this.click(e));
  }

  // show changes what is shown.
  show(change) {
    Object.assign(at, change);
    this.read();
    keepLink();
  }

  // step moves to the revision of the write before or after.
  step(by) {
    const all = [...model.revisions.keys()].sort((a, b) => a - b), now = before(all, this.revision);
    const next = all[now + by];
    if (next !== undefined) this.show({ revision: next === all.at(-1) && by > 0 ? 0 : next });
  }

  get revision() {
    return at.revision || model.revision;
  }

  click(e) {
    const to = e.target.closest("[data-resource], [data-object], [data-at]");
    if (!to) return;
    if (to.dataset.resource) this.show({ resource: to.dataset.resource, object: null });
    else if (to.dataset.object) this.open(to.dataset.object);
    else this.show({ revision: +to.dataset.at });
  }

  // open shows an object, given as JSON: resource, namespace, name and, unless it is the present one, a
  // revision.
  open(text) {
    const [resource, namespace, name, revision] = JSON.parse(text);
    this.opened = true;
    this.show({ resource, object: { resource, namespace: namespace || "", name }, ...(revision ? { revision } : {}) });
  }

  // draw is called when the pane is shown, and with new things. New things only matter while the
  // newest revision is shown. They are read at most twice a second.
  draw(things) {
    this.drawSlider();
    if (!things) this.read();
    else if (!at.revision && things.some((t) => t.revision)) this.again ||= setTimeout(() => this.read(), 500);
  }

  drawSlider() {
    const first = source.first ?? Math.max(model.compacted, 1);
    Object.assign(this.slider, { min: first, max: model.revision, value: this.revision });
    const rev = model.revisions.get(this.revision);
    byId("at").textContent = at.revision ? `r${at.revision}${rev ? `: ${rev.verb} by ${clientOf(rev.client)}, ${offset(rev.at)}` : ""}` : `r${model.revision}, the newest`;
    this.slider.setAttribute("aria-valuetext", byId("at").textContent);
    byId("newest").disabled = !at.revision;
    chart.moment = at.revision ? this.order : null;
    redraw();
  }

  // order is the position of the revision in the story.
  get order() {
    if (!at.revision) return model.ended.order;
    const all = [...model.revisions.values()], i = before(all, at.revision, (r) => r.revision);
    return i < 0 ? 0 : all[i].order;
  }

  async read() {
    clearTimeout(this.again);
    this.again = 0;
    this.drawSlider();
    const n = ++this.asked, query = { revision: at.revision || "" };
    try {
      const table = await source.get("objects", { ...query, resource: at.resource, namespace: filter.namespace, name: byId("table-name").value.trim() });
      const object = at.object && await source.get("object", { ...query, ...at.object });
      if (n !== this.asked) return;
      if (!at.resource && table.resources.length) {
        const first = [...model.revisions.values()].at(-1);
        at.resource = first ? first.changes[0].resource : table.resources[0].resource;
        await this.read();
        return;
      }
      this.drawTable(table);
      byId("object").hidden = !object;
      byId("object").innerHTML = object ? this.objectOf(object) : "";
      if (this.opened) byId("object").scrollIntoView({ block: "nearest" });
      this.opened = false;
    } catch (err) {
      byId("table").innerHTML = `<p class="message">${escape(err.message)}</p>`;
    }
  }

  drawTable(t) {
    byId("resources").innerHTML = t.resources.map((r) => `<button type="button" data-resource="${escape(r.resource)}" title="${escape(r.resource)}" aria-pressed="${r.resource === at.resource}"><span>${escape(r.resource)}</span> <small>${r.count}</small></button>`).join("");
    const shown = t.columns.map((c, i) => i).filter((i) => !t.columns[i].priority), namespaced = t.rows.some((r) => r.namespace);
    const chosen = at.object && pathOf(at.object);
    const rows = t.rows.map((r) => {
      const id = JSON.stringify([at.resource, r.namespace || "", r.name]);
      const cells = shown.map((i) => (i ? `<td>${escape(r.cells[i] ?? "")}</td>` : `<td><button type="button" class="link" data-object="${escape(id)}">${escape(r.cells[i] ?? r.name)}</button></td>`));
      const now = r.revision === this.revision ? "now" : "";
      return `<tr class="${now} ${pathOf(r) === chosen ? "chosen" : ""}">${namespaced ? `<td>${escape(r.namespace || "")}</td>` : ""}${cells.join("")}<td class="at">${r.revision ? `r${r.revision}` : "before"}</td></tr>`;
    });
    const head = [...(namespaced ? ["Namespace"] : []), ...shown.map((i) => t.columns[i].name), "Written"];
    const more = t.total > t.rows.length ? `<p class="facts">and ${plural(t.total - t.rows.length, "more object")}: the field above finds them by name</p>` : "";
    const part = server ? "" : '<p class="facts">of the objects that the file has: those that were written</p>';
    byId("table").innerHTML = t.rows.length ? `<table><thead><tr>${head.map((h) => `<th>${escape(h)}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>${more}${part}`
      : `<p class="facts">No ${escape(at.resource)} at r${t.revision}${byId("table-name").value ? " with that name" : ""}.</p>`;
  }

  objectOf(o) {
    const { resource } = at.object, title = `<h2>${escape(targetOf(at.object))}</h2>`;
    const parts = [title, this.versionsOf(o)];
    if (!o.object) return [...parts, `<p class="facts">It does not exist at r${this.revision}.</p>`].join("");
    parts.push(this.viewsOf(o), this.changeOf(o.revision), this.treeOf(o), this.eventsOf(o.events));
    const { managedFields, ...metadata } = o.object.metadata;
    const body = yaml({ ...o.object, metadata });
    parts.push(`<h3>Object</h3><pre class="yaml">${escape(body)}</pre>`);
    if (managedFields) parts.push(`<details class="managed"><summary>managedFields: ${managedFields.map((f) => escape(`${f.manager} (${f.operation}${f.subresource ? ` ${f.subresource}` : ""})`)).join(", ")}</summary><pre class="yaml">${escape(yaml(managedFields))}</pre></details>`);
    return parts.join("");
  }

  versionsOf(o) {
    const now = this.revision, rows = o.versions.slice(-40).map((v) => `<button type="button" class="version ${v.type}" data-at="${v.revision}" aria-pressed="${v.revision === o.revision}" title="${escape(`${v.type} by ${v.writer.userAgent || v.writer.verb || "an unknown client"}`)}">r${v.revision}</button>`);
    const n = o.versions.filter((v) => v.revision <= now).length;
    return `<p class="facts">version ${n} of ${o.versions.length}</p><p class="versions">${rows.join(" ")}</p>`;
  }

  // changeOf returns who wrote a revision and what it changed.
  changeOf(revision) {
    const rev = model.revisions.get(revision);
    if (!rev) return `<p class="facts">The ${server ? "server does not know any more" : "file does not say"} who wrote it.</p>`;
    if (rev.lean && server) {
      completeRevision(model.events.get(`r${revision}`)).then(() => this.read());
      return '<p class="facts">Reading what it changed…</p>';
    }
    const change = rev.changes.find((c) => c.resource === at.object.resource && (c.namespace || "") === at.object.namespace && c.name === at.object.name);
    return `<h3>${link(`r${rev.revision}`, `r${rev.revision}`)} ${escape(rev.verb)} by ${escape(clientOf(rev.client))}</h3>${change ? diffOf(change) : ""}`;
  }

  // viewsOf returns what each client that watches the object has seen of it.
  viewsOf(o) {
    const { order } = this, kept = o.versions.filter((v) => v.revision <= this.revision);
    const rows = model.readers.filter((r) => r.kind === "watch" && model.covers(r, at.object)).map((r) => {
      const i = before(r.marks, order, byOrder);
      if (i < 0) return "";
      let seen = 0;
      for (const m of r.marks.slice(0, i + 1)) seen = Math.max(seen, m.revision || 0);
      const version = kept.findLast((v) => v.revision <= seen), behind = kept.filter((v) => v.revision > seen).length;
      const what = version ? (version.type === "DELETED" ? "that it is gone" : `r${version.revision}`) : "nothing of it";
      return `<tr><td>${escape(r.client.name)}</td><td>sees ${what}</td><td class="${behind ? "never" : ""}">${behind ? `${plural(behind, "version")} behind` : "the newest"}</td><td>its view is at r${seen} of r${this.revision}</td></tr>`;
    });
    return `<h3>What clients see</h3>${rows.join("") ? `<table><tbody>${rows.join("")}</tbody></table>` : '<p class="facts">No client watches it.</p>'}`;
  }

  treeOf(o) {
    const line = (r, depth) => `<li data-depth="${depth}">${r.missing ? `${escape(targetOf(r))} <span class="never">does not exist</span>` : `<button type="button" class="link" data-object="${escape(JSON.stringify([r.resource, r.namespace || "", r.name]))}">${escape(targetOf(r))}</button>`}</li>`;
    if (!o.owners.length && !o.dependents.length) return "";
    const deepest = Math.max(0, ...o.owners.map((r) => r.generations));
    const up = o.owners.toReversed().map((r) => line(r, deepest - r.generations));
    const down = o.dependents.map((r) => line(r, deepest + r.generations));
    return `<h3>Owners and dependents</h3><ul class="tree">${up.join("")}<li data-depth="${deepest}"><b>${escape(targetOf(at.object))}</b></li>${down.join("")}</ul>`;
  }

  eventsOf(events) {
    const rows = events.toReversed().map((e) => `<tr class="${e.type === "Warning" ? "never" : ""}"><td>${escape(e.type || "")}</td><td>${escape(e.reason || "")}</td><td>${e.count > 1 ? `${e.count}×` : ""}</td><td>${escape(e.message || "")}</td></tr>`);
    return rows.length ? `<h3>Events</h3><table><tbody>${rows.join("")}</tbody></table>` : "";
  }
}

panes.objects = new Objects();

// A Scale maps moments to places on the horizontal axis. In mode "time" the place
// is the time in milliseconds. In mode "steps" consecutive moments are one step apart, plus the
// logarithm of the time between them.
class Scale {
  constructor(mode) {
    this.mode = mode;
    this.orders = [];
    this.times = [];
    this.places = [];
    this.end = 0; // the place of the end
  }

  // append adds a moment after all others and returns its place.
  append({ order, at }) {
    const n = this.orders.length;
    if (n && order <= this.orders[n - 1]) return this.place(order);
    const place = this.after(at);
    this.orders.push(order);
    this.times.push(at);
    this.places.push(place);
    this.end = place;
    return place;
  }

  // finish moves the end to a moment, which is no moment of the scale.
  finish({ order, at }) {
    if (!this.orders.length || order > this.orders.at(-1) || this.mode === "time") this.end = Math.max(this.end, this.after(at));
  }

  // after returns the place of a moment after all others.
  after(at) {
    const n = this.orders.length;
    if (!n) return this.mode === "time" ? at / 1000 : 0;
    const last = this.places[n - 1], pause = Math.max(0, at - this.times[n - 1]);
    return this.mode === "time" ? Math.max(last, at / 1000) : last + 1 + 1.5 * Math.log10(1 + pause / 20_000);
  }

  get margin() {
    return this.mode === "time" ? Math.max((this.end - (this.places[0] ?? 0)) * 0.01, 0.05) : 1.5;
  }

  get min() {
    return (this.places[0] ?? 0) - this.margin;
  }

  get max() {
    return this.end + this.margin;
  }

  // smallest is the minimum width of a view.
  get smallest() {
    const all = this.max - this.min;
    return Math.min(all, this.mode === "time" ? Math.max(all / 5e6, 0.02) : 3);
  }

  // place returns the place of an order. An order that is not a moment of the scale
  // is placed shortly after the one before.
  place(order) {
    const i = Math.max(0, before(this.orders, order));
    if (this.orders[i] >= order) return this.places[i];
    return (this.places[i] ?? 0) + Math.min(0.12, ((this.places[i + 1] ?? Infinity) - this.places[i]) / 4 || 0);
  }

  // placeOfTime is place for a time.
  placeOfTime(at) {
    const { times, places } = this, i = before(times, at);
    if (i < 0) return places[0] ?? 0;
    if (this.mode === "time" || i === times.length - 1) return this.mode === "time" ? Math.max(places[i], at / 1000) : places[i];
    return places[i] + ((at - times[i]) / Math.max(1, times[i + 1] - times[i])) * (places[i + 1] - places[i]);
  }
}

// A View is the visible part of a scale.
class View {
  constructor(scale) {
    this.scale = scale;
    this.lo = scale.min;
    this.hi = scale.max;
  }

  get width() {
    return this.hi - this.lo;
  }

  show(lo, hi) {
    const { min, max, smallest } = this.scale, width = Math.min(max - min, Math.max(hi - lo, smallest));
    lo = (lo + hi) / 2 - width / 2;
    this.lo = Math.min(Math.max(lo, min), max - width);
    this.hi = this.lo + width;
  }

  // zoom changes the width of the view. The place about keeps its position.
  zoom(factor, about = (this.lo + this.hi) / 2) {
    const { min, max, smallest } = this.scale, width = Math.min(max - min, Math.max(this.width * factor, smallest));
    const part = (about - this.lo) / this.width;
    this.lo = Math.min(Math.max(about - part * width, min), max - width);
    this.hi = this.lo + width;
  }

  pan(by) {
    this.show(this.lo + by, this.hi + by);
  }

  // reveal pans until a place is visible.
  reveal(place) {
    const margin = this.width * 0.08;
    if (place < this.lo + margin) this.pan(place - margin - this.lo);
    else if (place > this.hi - margin) this.pan(place + margin - this.hi);
  }
}

// A Scale maps moments to places on the horizontal axis. In mode "time" the place
// is the time. In mode "steps" consecutive moments are one step apart, plus the
// logarithm of the time between them.
class Scale {
  constructor(moments, mode) {
    const sorted = [...moments].sort((a, b) => a.order - b.order).filter((m, i, all) => i === 0 || m.order !== all[i - 1].order);
    this.orders = sorted.map((m) => m.order);
    this.times = sorted.map((m) => m.at);
    this.places = [];
    let place = 0;
    for (let i = 0; i < sorted.length; i++) {
      if (i > 0) {
        const pause = Math.max(0, this.times[i] - this.times[i - 1]);
        place = mode === "time" ? Math.max(place, this.times[i] / 1000) : place + 1 + 1.5 * Math.log10(1 + pause / 20_000);
      } else if (mode === "time") {
        place = this.times[i] / 1000;
      }
      this.places.push(place);
    }
    this.min = this.places[0] ?? 0;
    this.max = this.places.at(-1) ?? 1;
    const margin = mode === "time" ? Math.max((this.max - this.min) * 0.01, 0.05) : 1.5;
    this.min -= margin;
    this.max += margin;
    // smallest is the minimum width of a view.
    this.smallest = Math.min(this.max - this.min, Math.max((this.max - this.min) / 5000, mode === "time" ? 0.02 : 3));
  }

  // before returns the index of the last key that is not greater than value.
  static before(keys, value) {
    let lo = 0, hi = keys.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (keys[mid] <= value) lo = mid + 1;
      else hi = mid;
    }
    return lo - 1;
  }

  // place returns the place of an order. An order that is not a moment of the scale
  // is placed shortly after the one before.
  place(order) {
    const i = Math.max(0, Scale.before(this.orders, order));
    if (this.orders[i] >= order || i === this.orders.length - 1) return this.places[i] ?? 0;
    return this.places[i] + Math.min(0.12, (this.places[i + 1] - this.places[i]) / 4);
  }
}

// A View is the visible part of a scale.
class View {
  constructor(scale) {
    this.lo = scale.min;
    this.hi = scale.max;
    this.scale = scale;
  }

  get width() {
    return this.hi - this.lo;
  }

  show(lo, hi) {
    const all = this.scale.max - this.scale.min;
    const width = Math.min(all, Math.max(hi - lo, this.scale.smallest));
    lo = (lo + hi) / 2 - width / 2;
    this.lo = Math.min(Math.max(lo, this.scale.min), this.scale.max - width);
    this.hi = this.lo + width;
  }

  // zoom changes the width of the view. The place about keeps its position.
  zoom(factor, about = (this.lo + this.hi) / 2) {
    const all = this.scale.max - this.scale.min;
    const width = Math.min(all, Math.max(this.width * factor, this.scale.smallest));
    const part = (about - this.lo) / this.width;
    this.lo = Math.min(Math.max(about - part * width, this.scale.min), this.scale.max - width);
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

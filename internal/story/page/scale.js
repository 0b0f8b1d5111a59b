// A Scale places moments on the horizontal axis. By "time" a moment stands where
// its time says. By "steps" what happened stands one step apart, and a pause
// takes some more room the longer it was, so that neither a burst nor a pause
// fills the picture.
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
    // smallest is how little can be seen at once.
    this.smallest = Math.min(this.max - this.min, Math.max((this.max - this.min) / 5000, mode === "time" ? 0.02 : 3));
  }

  // before is the index of the last moment whose key is not above a value.
  static before(keys, value) {
    let lo = 0, hi = keys.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (keys[mid] <= value) lo = mid + 1;
      else hi = mid;
    }
    return lo - 1;
  }

  // place is where the moment of an order stands; one that has no place of its
  // own stands a little after the one before.
  place(order) {
    const i = Math.max(0, Scale.before(this.orders, order));
    if (this.orders[i] >= order || i === this.orders.length - 1) return this.places[i] ?? 0;
    return this.places[i] + Math.min(0.12, (this.places[i + 1] - this.places[i]) / 4);
  }
}

// A View is the part of a scale that is to be seen.
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

  // zoom shows more or less about a place, which stays where it is.
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

  // reveal pans as far as it takes to see a place.
  reveal(place) {
    const margin = this.width * 0.08;
    if (place < this.lo + margin) this.pan(place - margin - this.lo);
    else if (place > this.hi - margin) this.pan(place + margin - this.hi);
  }
}

// Painting: the chart draws a list of shapes, which paint puts on a canvas. The looks of a shape are a
// name below; a colour is the name of a variable of the style sheet.

const circle = (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

// glyphs are the shapes of marks, centred on the origin: paths with what to do with them.
const glyphs = {
  ADDED: [["body", circle(6)], ["cross", "M-3 0h6M0-3v6"]],
  MODIFIED: [["body", circle(5)]],
  DELETED: [["body", circle(6)], ["cross", "M-3 0h6"]],
  refused: [["stroke", "M-4-4l8 8M4-4l-8 8"]],
  idle: [["stroke", circle(4)]],
  note: [["body", "M1-7l-6 8h4l-1 6l6-8h-4z"]],
  injection: [["stroke", "M1-7l-6 8h4l-1 6l6-8h-4z"]],
  list: [["body", "M0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z"]],
  get: [["body", circle(3.5)]],
  late: [["stroke", "M0-5l5 5l-5 5l-5-5z"]],
  watch: [["body", "M-3.5-4.5l7 4.5l-7 4.5z"]],
  end: [["stroke", "M-4-4l8 8M4-4l-8 8"]],
  left: [["stroke", "M0-5v10"]],
};

const tones = { ADDED: "--added", MODIFIED: "--modified", DELETED: "--deleted", refused: "--refused", idle: "--soft", note: "--note", late: "--late" };

const looks = {
  stripe: { fill: "--stripe" }, heading: { fill: "--faint" }, rail: { stroke: "--line" }, storeline: { stroke: "--store", width: 1.5 },
  rev: { text: "--soft", size: 10.5, align: "center" }, word: { text: "--text", size: 11 }, chip: { text: "--late", size: 11, weight: 600, align: "right", ground: "--card" },
  delay: { text: "--text", size: 10.5, ground: "--card" }, count: { text: "--text", size: 10, weight: 600, align: "center" },
  head: { stroke: "--store", alpha: 0.8 }, seen: { stroke: "--modified", width: 2 }, behind: { fill: "--late-fill", alpha: 0.55 }, lag: { fill: "--late" },
  open: { stroke: "--modified", width: 3, alpha: 0.35 }, closed: { stroke: "--soft", dash: [2, 3] },
  cut: { stroke: "--note", dash: [3, 3], alpha: 0.8 }, "cut clock": { stroke: "--soft", dash: [3, 3], alpha: 0.8 }, "cut fork": { stroke: "--added", dash: [3, 3], alpha: 0.8 }, settle: { fill: "--new", alpha: 0.7 }, span: { fill: "--late-fill", alpha: 0.75 }, injected: { fill: "--note", alpha: 0.35 },
  tick: { stroke: "--line" }, time: { text: "--soft", size: 11 }, gap: { text: "--late", size: 10, align: "center" },
  cursor: { stroke: "--glow", alpha: 0.5 }, moment: { stroke: "--glow", width: 1.5, dash: [6, 3] },
  ray: { stroke: "--glow", width: 1.6, alpha: 0.85 }, "ray slow": { stroke: "--late", width: 1.6 }, "ray never": { stroke: "--refused", width: 1.6, dash: [4, 3] },
};

const clusterAlpha = 0.45; // so that the number is readable on it

let paths;
const colors = {};

// readColors reads the colours of the theme.
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of style.length ? document.styleSheets[0].cssRules[0].style : []) {
    if (name.startsWith("--")) colors[name] = style.getPropertyValue(name).trim();
  }
  colors.font = getComputedStyle(document.body).fontFamily;
  pictures.clear();
}

// pictures has marks as bitmaps, for the colours of the theme. To draw one costs a tenth of its paths.
const pictures = new Map();

const markRadius = 12; // of the bitmap of a mark

// pictureOf returns the bitmap of a mark for a screen with a number of pixels for each of CSS.
function pictureOf(tone, glyph, ratio) {
  const key = `${tone} ${glyph} ${ratio}`;
  let picture = pictures.get(key);
  if (!picture) {
    const size = Math.ceil(2 * markRadius * ratio), canvas = new OffscreenCanvas(size, size), g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, markRadius * ratio, markRadius * ratio);
    paintMark(g, tone, glyph);
    picture = canvas.transferToImageBitmap();
    pictures.set(key, picture);
  }
  return picture;
}

// paintMark draws a mark at the origin.
function paintMark(g, tone, glyph) {
  paths ||= Object.fromEntries(Object.entries(glyphs).map(([name, parts]) => [name, parts.map(([how, d]) => [how, new Path2D(d)])]));
  const color = colors[tones[tone]];
  for (const [how, path] of paths[glyph]) {
    g.lineWidth = how === "body" ? 1 : how === "cross" ? 1.6 : 2;
    g.fillStyle = how === "body" ? color : colors["--card"];
    g.strokeStyle = how === "stroke" ? color : colors["--card"];
    if (how !== "cross") g.fill(path);
    g.stroke(path);
  }
}

function paint(g, shapes) {
  for (const s of shapes) {
    const look = looks[s.look] || looks[(s.look || "").split(" ")[0]] || {};
    g.globalAlpha = look.alpha ?? 1;
    g.setLineDash(look.dash || []);
    g.lineWidth = look.width || 1;
    if (look.stroke) g.strokeStyle = colors[look.stroke];
    if (look.fill) g.fillStyle = colors[look.fill];
    painters[s.shape](g, s, look);
  }
  g.globalAlpha = 1;
}

const painters = {
  rect(g, s) {
    if (s.round) {
      g.beginPath();
      g.roundRect(s.x, s.y, s.width, s.height, s.round);
      g.fill();
    } else g.fillRect(s.x, s.y, s.width, s.height);
  },
  line(g, { points }) {
    g.beginPath();
    points.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.stroke();
  },
  text(g, s, look) {
    g.font = `${look.weight || 400} ${look.size}px ${colors.font}`;
    g.textAlign = s.align || look.align || "left";
    if (look.ground) {
      const { width } = g.measureText(s.text);
      g.fillStyle = colors[look.ground];
      g.fillRect((g.textAlign === "right" ? s.x - width : s.x) - 3, s.y - look.size, width + 6, look.size + 3);
    }
    g.fillStyle = colors[look.text];
    g.fillText(s.text, s.x, s.y);
  },
  cluster(g, s) {
    g.fillStyle = colors[s.bad ? "--refused" : tones[s.tone] || "--modified"];
    g.globalAlpha = clusterAlpha;
    g.beginPath();
    g.roundRect(s.x, s.y - 6, s.width, 12, 6);
    g.fill();
    g.globalAlpha = 1;
    if (s.width > 26) painters.text(g, { text: String(s.count), x: s.x + s.width / 2, y: s.y + 3.5 }, looks.count);
  },
  mark(g, s) {
    const ratio = window.devicePixelRatio || 1, picture = pictureOf(s.tone, s.glyph, ratio), whole = (x) => Math.round((x - markRadius) * ratio) / ratio;
    g.drawImage(picture, whole(s.x), whole(s.y), picture.width / ratio, picture.height / ratio);
    if (!s.chosen) return;
    g.strokeStyle = colors["--glow"];
    g.lineWidth = 2.5;
    g.beginPath();
    g.arc(s.x, s.y, 10, 0, 7);
    g.stroke();
  },
  dot(g, s) {
    g.fillStyle = colors[s.late ? "--late" : "--glow"];
    g.beginPath();
    g.arc(s.x, s.y, 3, 0, 7);
    g.fill();
  },
};

// glyphPicture returns a glyph as an SVG, for texts.
function glyphPicture(tone, glyph) {
  const parts = glyphs[glyph].map(([how, d]) => `<path class="${how}" d="${d}"/>`).join("");
  return `<svg class="glyph ${tone}" width="24" height="18" viewBox="-12 -9 24 18" aria-hidden="true">${parts}</svg>`;
}

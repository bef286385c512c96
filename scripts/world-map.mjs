#!/usr/bin/env node
// Makes the map of countries and the names of countries and languages that the analytics pages show:
//   npm install --no-save --prefix target/npm world-atlas@2.0.2 && node scripts/world-map.mjs
// The outlines are Natural Earth's (public domain) as world-atlas packs them; the names are those of the Unicode CLDR
// that node has. What it writes is committed: nothing of this runs when kurz is built.
//
// assets/world-map.txt   one line per country: ISO code, then path data in a plane of 1000 units (Equal Earth)
// assets/countries.txt   ISO code, then its names in English, German and Spanish, with tabs between
// assets/languages.txt   the same for languages
import { readFileSync, writeFileSync } from "node:fs";

const folder = process.argv[2] ?? "target/npm/node_modules/world-atlas";
const WIDTH = 1000;
// In units of the plane: a point that moves the outline less than this is left out.
const TOLERANCE = 0.55;
// Rings smaller than this are left out, unless the country has no larger one.
const LEAST_AREA = 2.2;

// Equal Earth (Šavrič, Patterson, Jenny 2018).
const [A1, A2, A3, A4] = [1.340264, -0.081106, 0.000893, 0.003796];
const project = ([longitude, latitude]) => {
  // Centred on 11° E, so that the Bering Strait is at the edge.
  let turned = longitude - 11;
  if (turned < -180) turned += 360;
  if (turned > 180) turned -= 360;
  const t = Math.asin(Math.sqrt(3) / 2 * Math.sin(latitude * Math.PI / 180));
  const t2 = t * t, t6 = t2 * t2 * t2;
  const x = 2 * Math.sqrt(3) * (turned * Math.PI / 180) * Math.cos(t) / (3 * (9 * A4 * t6 * t2 + 7 * A3 * t6 + 3 * A2 * t2 + A1));
  const y = t * (A4 * t6 * t2 + A3 * t6 + A2 * t2 + A1);
  return [x, -y];
};
const EDGE = project([11 + 179.999, 0])[0];
const scale = WIDTH / (2 * EDGE);
const place = (point) => { const [x, y] = project(point); return [(x + EDGE) * scale, y * scale]; };

const read = (name) => {
  const topology = JSON.parse(readFileSync(`${folder}/${name}.json`));
  const { scale: [sx, sy], translate: [tx, ty] } = topology.transform;
  const arcs = topology.arcs.map((arc) => {
    let x = 0, y = 0;
    return arc.map(([dx, dy]) => [(x += dx) * sx + tx, (y += dy) * sy + ty]);
  });
  const ring = (indexes) => indexes.flatMap((index, at) => {
    const arc = index < 0 ? [...arcs[~index]].reverse() : arcs[index];
    return at ? arc.slice(1) : arc;
  });
  return topology.objects.countries.geometries.map((shape) => ({
    code: iso(shape),
    rings: (shape.type === "Polygon" ? [shape.arcs] : shape.arcs ?? []).map((polygon) => ring(polygon[0])),
  }));
};

const UNNUMBERED = { Kosovo: "XK", "N. Cyprus": "CY", Somaliland: "SO" };
function iso(shape) {
  if (UNNUMBERED[shape.properties.name]) return UNNUMBERED[shape.properties.name];
  if (!shape.id) return null;
  const region = Intl.getCanonicalLocales(`und-${String(shape.id).padStart(3, "0")}`)[0].split("-")[1];
  return /^[A-Z]{2}$/.test(region ?? "") ? region : null;
}

const area = (ring) => Math.abs(ring.reduce((sum, [x, y], at) => {
  const [nx, ny] = ring[(at + 1) % ring.length];
  return sum + x * ny - nx * y;
}, 0) / 2);

// Douglas–Peucker.
function simplify(points) {
  if (points.length < 3) return points;
  const [first, last] = [points[0], points.at(-1)];
  const [dx, dy] = [last[0] - first[0], last[1] - first[1]];
  const length = Math.hypot(dx, dy);
  let most = 0, at = 0;
  for (let index = 1; index < points.length - 1; index++) {
    const [x, y] = [points[index][0] - first[0], points[index][1] - first[1]];
    const away = length ? Math.abs(x * dy - y * dx) / length : Math.hypot(x, y);
    if (away > most) { most = away; at = index; }
  }
  if (most < TOLERANCE) return [first, last];
  return [...simplify(points.slice(0, at + 1)).slice(0, -1), ...simplify(points.slice(at))];
}

// A ring that crosses the edge of the map is cut there, into parts that each stay on their side.
function cut(points) {
  const parts = [[]];
  for (const point of points) {
    const before = parts.at(-1).at(-1);
    if (before && Math.abs(before[0] - point[0]) > WIDTH / 2) parts.push([]);
    parts.at(-1).push(point);
  }
  if (parts.length > 2) parts[0].unshift(...parts.pop());
  return parts.filter((part) => part.length > 2);
}

const outlines = (rings) => {
  const placed = rings.flatMap((ring) => cut(ring.map(place)));
  const large = placed.filter((ring) => area(ring) >= LEAST_AREA);
  const taken = large.length ? large : placed.sort((a, b) => area(b) - area(a)).slice(0, 1);
  return taken.map((ring) => {
    const half = Math.floor(ring.length / 2);
    return [...simplify(ring.slice(0, half + 1)).slice(0, -1), ...simplify(ring.slice(half))];
  });
};

const countries = new Map();
let top = Infinity, bottom = -Infinity;
const add = (code, rings) => {
  if (!code || code === "AQ") return;
  for (const [, y] of rings.flat()) { top = Math.min(top, y); bottom = Math.max(bottom, y); }
  countries.set(code, [...(countries.get(code) ?? []), ...rings]);
};
for (const { code, rings } of read("countries-110m")) add(code, outlines(rings));
// What is too small for the coarse outlines is a mark where it is.
for (const { code, rings } of read("countries-50m")) {
  if (!code || countries.has(code) || !rings.length) continue;
  const largest = rings.map((ring) => ring.map(place)).sort((a, b) => area(b) - area(a))[0];
  const mean = (axis) => largest.reduce((sum, point) => sum + point[axis], 0) / largest.length;
  const [x, y] = [mean(0), mean(1)];
  add(code, [[[x - 1.6, y], [x, y - 1.6], [x + 1.6, y], [x, y + 1.6]]]);
}

// Tenths of a unit, relative to the point before.
const tenths = (value) => Math.round(value * 10);
const text = (value) => String(value / 10).replace(/^(-?)0\./, "$1.");
const pair = (x, y) => { const second = text(y); return text(x) + (second.startsWith("-") ? "" : " ") + second; };
const path = (rings) => rings.map((ring) => {
  let [x, y] = [tenths(ring[0][0]), tenths(ring[0][1] - top)];
  let out = `M${pair(x, y)}l`, first = true;
  for (const point of ring.slice(1)) {
    const [nx, ny] = [tenths(point[0]), tenths(point[1] - top)];
    if (nx === x && ny === y) continue;
    const step = pair(nx - x, ny - y);
    out += (first || step.startsWith("-") ? "" : " ") + step;
    [x, y, first] = [nx, ny, false];
  }
  return first ? "" : `${out}z`;
}).join("");

const lines = [...countries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, rings]) => `${code} ${path(rings)}`);
const height = Math.ceil(bottom - top);
writeFileSync("assets/world-map.txt", `${WIDTH} ${height}\n${lines.join("\n")}\n`);

const LANGUAGES = ["en", "de", "es"];
const named = (type, codes) => {
  const tables = (style) =>
    LANGUAGES.map((language) => new Intl.DisplayNames([language], { type, style, fallback: "none" }));
  const [long, short] = [tables("long"), tables("short")];
  // The long names of these speak of their status.
  const brief = ["HK", "MO", "PS"];
  return codes.flatMap((code) => {
    const names = (brief.includes(code) ? short : long).map((table) => table.of(code));
    return names.every(Boolean) ? [[code, ...names].join("\t")] : [];
  });
};
const letters = [..."abcdefghijklmnopqrstuvwxyz"];
const two = letters.flatMap((a) => letters.map((b) => a + b));
// Codes that are private, of unions, or no longer used.
const NO_COUNTRY = ["EU", "EZ", "UN", "XA", "XB", "ZZ", "QO", "AC", "CP", "CQ", "DG", "EA", "IC", "TA", "AN", "BU", "CS", "DD", "DY", "FX", "HV", "NH", "NT", "RH", "SU", "TP", "UK", "VD", "YD", "YU", "ZR"];
const regions = two.map((code) => code.toUpperCase()).filter((code) => !NO_COUNTRY.includes(code));
writeFileSync("assets/countries.txt", `${named("region", regions).join("\n")}\n`);
const spoken = two.filter((code) => Intl.getCanonicalLocales(code)[0] === code);
writeFileSync("assets/languages.txt", `${named("language", [...spoken, "fil", "yue", "haw", "ckb", "ber", "chr"]).join("\n")}\n`);

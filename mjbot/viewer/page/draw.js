// Draws a board as SVG.  Where everything lies is the same in mjbot/viewer/drawing/picture.py.

import { t } from "/page/text.js";

const NS = "http://www.w3.org/2000/svg";
const W = 48;
const H = 64;
const LEFT = 72; // where a hand begins
const RIGHT = 992; // where the melds end
const BOTTOM = 994;
const GAP = 12;
const RIVER_X = 356;
const RIVER_Y = 656;
const ROW = 6;
const ROWS = 4;
const ANGLES = [0, -90, 180, 90];

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function label(name) {
  const symbol = document.getElementById(`t${name}`);
  return symbol ? symbol.getAttribute("aria-label") : name;
}

// A piece of the drawing: a name that identifies it from place to place, and how it is made.  What was
// there before is kept and only moved: that is most of a step's time.
function part(key, name, attributes, content = null, token = null) {
  return { key: `${name} ${key}`, name, attributes, content, token };
}

function made({ name, attributes, content, token }) {
  const node = element(name, attributes);
  if (content !== null) node.textContent = content;
  if (token !== null) node.dataset.tile = token;
  return node;
}

// Makes the children of a group be these parts.
function fill(group, before, parts) {
  const spare = new Map();
  for (const { key, node, attributes } of before) {
    if (!spare.has(key)) spare.set(key, []);
    spare.get(key).push({ node, attributes });
  }
  const now = parts.map((wish) => {
    const kept = (spare.get(wish.key) || []).shift();
    if (!kept) return { key: wish.key, attributes: wish.attributes, node: made(wish) };
    for (const [name, value] of Object.entries(wish.attributes)) {
      if (kept.attributes[name] !== value) kept.node.setAttribute(name, value);
    }
    return { key: wish.key, attributes: wish.attributes, node: kept.node };
  });
  for (const left of spare.values()) for (const { node } of left) node.remove();
  let next = group.firstChild;
  for (const { node } of now) {
    if (node === next) next = next.nextSibling;
    else group.insertBefore(node, next);
  }
  return now;
}

// A tile as a token of the board, its name and marks, at a place and in a size.
function tile(token, x, y, scale, kinds = "") {
  const [, name, marks] = /^(\?|[^_\-^+#]+)([_\-^+#]*)$/.exec(token) || ["", "?", ""];
  const shown = marks.includes("#") ? "?" : name;
  const turned = marks.includes("_") || marks.includes("+");
  const classes = `${marks.includes("-") ? "drawn " : ""}${marks.includes("^") ? "called " : ""}${kinds}`;
  const place = turned ? `translate(${r(x)} ${r(y + W * scale)})rotate(-90)` : `translate(${r(x)} ${r(y)})`;
  return part(`${shown}${marks}`, "use", {
    href: `#t${shown}`, width: r(W * scale), height: r(H * scale), transform: place,
    class: classes.trim(), role: "img", "aria-label": label(shown) + words(marks),
  }, null, token);
}

function words(marks) {
  return (marks.includes("^") ? t(", called away") : "") + (marks.includes("-") ? t(", as drawn") : "");
}

const r = (number) => Math.round(number * 100) / 100;
const width = (token, scale) => (token.includes("_") ? H : W) * scale;

function meldTokens(meld) {
  return meld.split(" ");
}

function meldWidth(meld) {
  return meldTokens(meld).reduce((sum, t) => sum + (t.includes("+") ? 0 : width(t, 1)), 0);
}

function handTokens(seat, isOpen) {
  if (seat.hand === null || !isOpen) return Array(seat.size).fill("?");
  return seat.hand ? seat.hand.split(" ") : [];
}

function drawHand(group, seat, isOpen) {
  const tokens = handTokens(seat, isOpen);
  const drawn = seat.drawn && (isOpen ? seat.drawn : "?");
  const melds = seat.melds.reduce((sum, meld) => sum + meldWidth(meld) + GAP / 2, 0);
  const need = tokens.length * W + (drawn ? GAP + W : 0) + melds + (melds ? GAP : 0);
  const scale = Math.min(1, (RIGHT - LEFT) / need);
  let x = LEFT;
  for (const token of tokens) {
    group.push(tile(token, x, BOTTOM - H * scale, scale, "own"));
    x += W * scale;
  }
  if (drawn) group.push(tile(drawn, x + GAP * scale, BOTTOM - H * scale, scale, "own new"));
  drawMelds(group, seat, scale);
}

function drawMelds(group, seat, scale) {
  let right = RIGHT;
  for (const meld of seat.melds) {
    let x = right - meldWidth(meld) * scale;
    right = x - (GAP / 2) * scale;
    let upon = x;
    for (const token of meldTokens(meld)) {
      const flat = token.includes("_") || token.includes("+");
      const y = BOTTOM - (flat ? W : H) * scale - (token.includes("+") ? W * scale : 0);
      group.push(tile(token, token.includes("+") ? upon : x, y, scale));
      upon = x;
      if (!token.includes("+")) x += width(token, scale);
    }
  }
}

function drawRiver(group, river, isLast) {
  let x = RIVER_X;
  river.forEach((token, place) => {
    const row = Math.min(Math.floor(place / ROW), ROWS - 1);
    if (place % ROW === 0 && place < ROW * ROWS) x = RIVER_X;
    const y = RIVER_Y + row * H + (token.includes("_") ? (H - W) / 2 : 0);
    const newest = isLast && place === river.length - 1;
    group.push(tile(token, x, y, 1, newest ? "last" : ""));
    if (newest) {
      const size = token.includes("_") ? [H, W] : [W, H];
      group.push(part("ring", "rect", {
        class: "ring", x: r(x), y: r(y), width: size[0], height: size[1], rx: 6,
      }));
    }
    x += width(token, 1);
  });
}

const KYOKU = { East: "East {number}", South: "South {number}", West: "West {number}", North: "North {number}" };

// "East 2" of a board in the language of the page.
export function kyokuName(kyoku) {
  const [wind, number] = kyoku.split(" ");
  return t(KYOKU[wind], { number });
}

export const points = (number) => number.toLocaleString("en-US");
const signed = (number) => (number > 0 ? "+" : "") + points(number);

function text(content, attributes) {
  return part(content, "text", attributes, String(content));
}

// A name that fits, with its end, where names of one family differ.
export function short(name, most) {
  const letters = [...name];
  if (letters.length <= most) return name;
  return `${letters.slice(0, most - 6).join("")}…${letters.slice(-5).join("")}`;
}

function drawPlate(group, name, board, place, angle) {
  const seat = board.seats[place];
  const upright = angle === 180 ? { transform: "rotate(180 478 626)" } : {};
  const end = { ...upright, x: 596, y: 633, "text-anchor": "end" };
  const delta = board.result ? board.result.deltas[place] : 0;
  group.push(
    part("plate", "rect", {
      ...upright, x: 353, y: 606, width: 250, height: 40, rx: 8,
      class: board.turn === place ? "plate active" : "plate",
    }),
    text(t(seat.wind), { ...upright, x: 372, y: 635, class: "wind", "text-anchor": "middle" }),
    text(points(board.scores[place]), { ...upright, x: 482, y: 635, class: "score", "text-anchor": "end" }),
    delta
      ? text(signed(delta), { ...end, class: delta > 0 ? "gain" : "loss" })
      : text(short(name, 12), { ...end, class: "name" }),
  );
  if (seat.riichi === 2) {
    group.push(
      part("stick", "rect", { x: 440, y: 591, width: 120, height: 10, rx: 4, class: "stick" }),
      part("dot", "circle", { cx: 500, cy: 596, r: 3.4, class: "dot" }),
    );
  }
}

function drawMiddle(group, board) {
  const middle = { x: 500, "text-anchor": "middle" };
  group.push(text(kyokuName(board.kyoku), { ...middle, y: 440, class: "round" }));
  group.push(text(t(board.sticks === 1 ? "{honba} honba, 1 stick" : "{honba} honba, {sticks} sticks", board), { ...middle, y: 464, class: "small" }));
  group.push(text(t("{tiles} tiles left", { tiles: board.wall }), { ...middle, y: 486, class: "small" }));
  [board.dora, board.ura].forEach((markers, row) => {
    const tokens = markers ? markers.split(" ") : [];
    const scale = 0.66;
    let x = 500 - (tokens.length * W * scale) / 2;
    for (const token of tokens) {
      group.push(tile(token, x, 496 + row * 45, scale, row ? "ura" : "dora"));
      x += W * scale;
    }
  });
}

// Keeps one <svg> like the board: what has not changed since the last time is left alone.
export class Picture {
  constructor(svg) {
    this.svg = svg;
    this.drawn = new Map();
  }

  draw(board, names, viewpoint, isOpen) {
    this.piece("middle", 0, drawMiddle, board.kyoku, [
      board.kyoku, board.honba, board.sticks, board.wall, board.dora, board.ura,
    ], board);
    for (let side = 0; side < 4; side++) {
      const place = (viewpoint + side) % 4;
      if (place >= board.seats.length) { // the empty one of three players
        this.remove(side);
        continue;
      }
      const [seat, angle] = [board.seats[place], ANGLES[side]];
      const open = isOpen(place);
      const who = names[place];
      const hand = [seat.hand, seat.size, seat.drawn, seat.melds, open];
      this.piece(`hand${side}`, angle, drawHand, t("{name}: hand", { name: who }), hand, seat, open);
      const isLast = board.last === place;
      this.piece(`river${side}`, angle, drawRiver, t("{name}: discards", { name: who }), [seat.river, isLast], seat.river, isLast);
      const plate = [names[place], seat.wind, seat.riichi, board.turn === place, board.scores[place],
        board.result && board.result.deltas[place]];
      this.piece(`plate${side}`, angle, drawPlate, who, plate, names[place], board, place, angle);
    }
  }

  remove(side) {
    for (const id of [`hand${side}`, `river${side}`, `plate${side}`]) {
      if (this.drawn.has(id)) this.drawn.get(id).group.remove();
      this.drawn.delete(id);
    }
  }

  // Draws one piece anew if what it shows (key) has changed; the rest goes to the drawing function.
  piece(id, angle, drawing, name, key, ...shown) {
    const now = JSON.stringify([name, key]);
    const before = this.drawn.get(id);
    if (before && before.key === now) return;
    const group = before ? before.group : element("g", {
      id, role: "group", ...(angle && { transform: `rotate(${angle} 500 500)` }),
    });
    group.setAttribute("aria-label", name);
    const parts = [];
    drawing(parts, ...shown);
    const children = fill(group, before ? before.children : [], parts);
    if (!before) this.svg.append(group);
    this.drawn.set(id, { key: now, group, children });
  }
}

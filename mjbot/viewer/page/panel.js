// The panel next to the board: hands as text, the result, what a player thinks.

import { element, label, points, short } from "/page/draw.js";
import { t } from "/page/text.js";

export function html(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const letterOf = (wind) => t(wind);

export function tiles(names) {
  const row = html("span", { class: "tiles" });
  for (const name of names.split(" ").filter(Boolean)) {
    const use = element("use", { href: `#t${name}` });
    row.append(element("svg", { viewBox: "0 0 48 64", role: "img", "aria-label": label(name) }, use));
  }
  return row;
}

// A number as sentences have it, by its unit; reasons.number in Python.
export function format(value, unit) {
  if (unit.startsWith("%")) {
    if (Math.abs(value) < 0.005) return "0";
    return Math.abs(value) < 1 ? value.toFixed(2) : value.toFixed(1);
  }
  if (unit === "points") return points(Math.round(value) || 0);
  return unit === "ranks" ? value.toFixed(3) : `${Number(value.toPrecision(6))}`;
}

const WINDS = { E: "East", S: "South", W: "West", N: "North" };
export const windName = (wind) => t(WINDS[wind] || wind);

// An action as the data names it, such as "discard 3p (drawn)", with its tile drawn.
export function actParts(text) {
  const [, name, tile] = /^(.+?) ([1-9][mps]r?|[ESWNPFC])(?: \(drawn\))?$/.exec(text) || [];
  return name ? [`${t(name)} `, tiles(tile)] : [t(text)];
}

// The head of a row: a term, its opponent and its unit.
export function termName({ name, unit, about, is_total: isTotal }, board) {
  const seat = about === null ? "" : windName(board.seats[about].wind);
  const whom = !seat ? "" : name === "danger" ? t("from {seat}", { seat }) : t("to {seat}", { seat });
  const named = whom ? t("{term} {whom}", { term: t(name), whom }) : t(name);
  const isNamed = name.includes(unit) && !isTotal;
  return isNamed ? named : t("{name}, {unit}", { name: named, unit: t(unit) });
}

// A chance to deal in, in per cent, with a colour for its size.
export function danger(chance, kinds) {
  const level = chance >= 10 ? 4 : chance >= 5 ? 3 : chance >= 2 ? 2 : chance >= 0.005 ? 1 : 0;
  return html("span", { class: `${kinds} level${level}` }, chance < 0.005 ? "0" : format(chance, "%").replace(/^0/, ""));
}

// Remarks of players: a text, or the parts of a pair's remark, with its tiles drawn.
export function showTalk(place, talk, board, names) {
  place.hidden = !talk.length;
  const name = (seat) => `${letterOf(board.seats[seat].wind)} ${short(names[seat], 22)}`;
  const shown = (part) => (part.tiles ? tiles(part.tiles) : part.seat === undefined ? part : name(part.seat));
  place.replaceChildren(...talk.map(([seat, remark]) => {
    const parts = typeof remark === "string" ? [remark] : remark.map(shown);
    return html("li", {}, t("{title}: ", { title: name(seat) }), ...parts);
  }));
}

function way(shanten) {
  if (shanten < 0) return t("complete");
  return shanten ? t("{n}-shanten", { n: shanten }) : t("tenpai");
}

// `estimates` has an element for some seats: what the seat below can know of them.
export function showSeats(place, board, names, isOpen, estimates = new Map()) {
  const rows = board.seats.map((seat, at) => {
    const state = html("td");
    if (seat.shanten === null || !isOpen(at)) state.append(seat.riichi ? t("riichi") : "");
    else {
      state.append(way(seat.shanten));
      if (seat.waits && seat.shanten <= 0) state.append(t(", waits "), tiles(seat.waits));
      if (seat.furiten && seat.shanten <= 0) state.append(" ", t("furiten"));
    }
    if (estimates.has(at)) state.append(" ", estimates.get(at));
    const rank = board.result && board.result.ranks.length ? ` (${t("place {n}", { n: board.result.ranks[at] })})` : "";
    const name = html("th", { scope: "row", title: names[at] }, `${letterOf(seat.wind)} ${short(names[at], 22)}${rank}`);
    return html("tr", {}, name, state);
  });
  place.replaceChildren(html("table", {}, html("tbody", {}, ...rows)));
}

export function showResult(place, result, names, close) {
  place.hidden = !result;
  if (!result) return place.replaceChildren();
  const parts = [html("button", { class: "close", "aria-label": t("close") }, "×")];
  parts[0].addEventListener("click", close);
  if (result.wins.length === 0) {
    parts.push(html("h2", {}, t(result.title || "end of the game")));
    const tenpai = result.tenpai.map((seat) => names[seat]).join(t(", "));
    if (result.title === "exhaustive draw") parts.push(html("p", {}, t("tenpai: {names}", { names: tenpai || t("nobody") })));
  }
  result.wins.forEach((win, place) => parts.push(...(place ? [html("hr")] : []), ...winParts(win, names)));
  const paid = result.deltas.map((delta, seat) => [delta, seat]).filter(([delta]) => delta);
  if (paid.length) {
    const changes = paid.map(([delta, seat]) => `${short(names[seat], 18)} ${delta > 0 ? "+" : ""}${points(delta)}`);
    parts.push(html("p", {}, changes.join(t(", "))));
  }
  if (result.ranks.length) parts.push(html("hr"), ranking(result.ranks, names));
  place.replaceChildren(...parts);
}

function winParts(win, names) {
  const who = names[win.seat];
  const title = win.from === win.seat ? t("{name} wins by draw", { name: who }) : t("{name} wins off {from}", { name: who, from: names[win.from] });
  const head = html("h2", {}, `${title} `, tiles(win.tile));
  const yaku = win.yaku.map(([name, han]) => {
    return html("tr", {}, html("td", {}, t(name)), html("td", { class: "number" }, `${han}`));
  });
  const worth = [win.han && t("{n} han", { n: win.han }), win.fu && t("{n} fu", { n: win.fu }), win.limit && t(win.limit)].filter(Boolean);
  const total = win.points ? t("{n} points", { n: points(win.points) }) : "";
  return [
    head,
    html("table", {}, html("tbody", {}, ...yaku)),
    html("p", { class: "worth" }, [...worth, total].filter(Boolean).join(t(", "))),
  ];
}

function ranking(ranks, names) {
  const order = ranks.map((rank, seat) => [rank, names[seat]]).sort((a, b) => a[0] - b[0]);
  return html("p", {}, order.map(([rank, name]) => `${rank}. ${name}`).join("  "));
}

// --- what a player thinks ---------------------------------------------------------------------

// Numbers of one column have as many places as its largest needs.
function numbers(values) {
  const most = Math.max(0, ...values.filter(Number.isFinite).map(Math.abs));
  const places = most >= 100 ? 0 : most >= 10 ? 1 : most >= 1 ? 2 : most >= 0.1 ? 3 : 4;
  return (value) => {
    if (value === null) return t("given up");
    return Number.isInteger(value) && values.every(Number.isInteger) ? `${value}` : value.toFixed(places);
  };
}

export function showThoughts(place, message, did, name) {
  place.hidden = false;
  const parts = [html("h2", {}, t("{strategy} for {name}: ", { strategy: message.strategy, name }), ...actParts(message.choice))];
  if (did) parts.push(html("p", {}, t("recorded: "), html("span", { class: "did" }, ...actParts(did))));
  if (message.rated.length) parts.push(rating(message, did));
  parts.push(...message.notes.map((note) => html("p", {}, note)));
  parts.push(...message.tables.map(dataTable));
  place.replaceChildren(...parts);
}

function rating(message, did) {
  const terms = [...new Set(message.rated.flatMap((rated) => Object.keys(rated.terms)))];
  const values = message.rated.map((rated) => rated.worth).filter((worth) => worth !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const format = numbers(values);
  const formats = terms.map((term) => numbers(message.rated.map(({ terms: all }) => all[term]).filter((v) => v !== undefined)));
  const heads = [t("choice"), message.unit ? t("{name}, {unit}", { name: t("value"), unit: t(message.unit) }) : t("value"), ...terms];
  const head = heads.map((title, at) => html("th", { scope: "col", ...(at && { class: "number" }) }, title));
  const rows = message.rated.map((rated) => {
    const what = html("td", {}, rated.tile ? tiles(rated.tile) : t(rated.text));
    if (rated.tile && rated.name !== "discard") what.prepend(`${t(rated.name)} `);
    if (rated.done || rated.text === did) what.append(html("span", { class: "did", title: t("recorded") }, " ●"));
    const worth = html("td", { class: "number" }, format(rated.worth));
    if (rated.worth !== null && most > least) {
      const bar = html("span", { class: "bar" });
      bar.style.width = `${(100 * (rated.worth - least)) / (most - least)}%`;
      worth.append(bar);
    }
    const cells = terms.map((term, at) => {
      const value = rated.terms[term];
      return html("td", { class: "number" }, value === undefined ? "" : formats[at](value));
    });
    return html("tr", rated.chosen ? { class: "chosen" } : {}, what, worth, ...cells);
  });
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

function dataTable(table) {
  const head = table.columns.map((title) => html("th", { scope: "col" }, title));
  const rows = table.rows.map((row, at) => {
    const cells = row.map((cell) => {
      const isNumber = typeof cell === "number";
      return html("td", isNumber ? { class: "number" } : {}, isNumber ? numbers([cell])(cell) : String(cell ?? ""));
    });
    return html("tr", table.marked.includes(at) ? { class: "chosen" } : {}, ...cells);
  });
  const caption = table.title ? [html("caption", {}, table.title)] : [];
  return html("table", {}, ...caption, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

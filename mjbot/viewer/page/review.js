// A review next to the board: the hand with the chance of each choice, the decision, the list of all.

import { points } from "/page/draw.js";
import { danger, format, html, termName, tiles, windName } from "/page/panel.js";
import { t } from "/page/text.js";

const KINDS = ["m", "p", "s"].flatMap((suit) => [..."123456789"].map((rank) => rank + suit)).concat([..."ESWNPFC"]);
const LIKELY = 4; // kinds that are listed as the likely waits of an opponent
const LEAST = 0.5; // per cent, below which a kind is no likely wait
const KANS = ["daiminkan", "ankan", "kakan"];

const kindOf = (tile) => KINDS.indexOf(tile.slice(0, 2));
const actName = ({ name, text, tile }) => t(KANS.includes(name) ? "kan" : tile ? name : text);

// The decisions of one seat in a game, in their order.
export class Review {
  constructor(data) {
    Object.assign(this, data);
    this.threshold = 0;
    this.byEvent = new Map(this.decisions.map((decision) => [decision.n, decision]));
    this.most = Math.max(0, ...this.decisions.map(({ cost_size: size }) => size || 0));
    // differences below 10 points are not reported; costs by playouts have a least size of their own
    this.step = this.unit === "points" ? 10 : this.unit === "ranks" ? 0.01 : this.most / 100 || 1;
  }

  at(n, seat) {
    return seat === this.seat ? this.byEvent.get(n) : undefined;
  }

  named(position) {
    return this.decisions.find(({ at }) => at === position) || this.decisions.find(({ at }) => at.startsWith(`${position}:`));
  }

  isMistake(decision) {
    if (!decision || !decision.counts) return false;
    return decision.cost_size === null || decision.cost_size >= this.threshold; // null: a win, not rated
  }

  get mistakes() {
    return this.decisions.filter((decision) => this.isMistake(decision));
  }

  amount(value) {
    if (this.unit.startsWith("%")) return `${format(value, "%")}%`;
    const n = format(value, this.unit);
    if (this.unit === "points") return t("{n} points", { n });
    return this.unit === "ranks" ? t("{n} places", { n }) : `${n} ${t(this.unit)}`;
  }
}

// --- the hand ---------------------------------------------------------------------------------

// Draws the hand of a seat, each tile with the share of its discard above and its dangers below.
// `thought` is a strategy's or a review's, `options` have bars, dangers, and the board.
export function showStrip(place, seat, thought, options) {
  place.hidden = !seat || seat.hand === null;
  if (place.hidden) return;
  const held = seat.hand ? seat.hand.split(" ") : [];
  const rated = thought ? thought.rated : [];
  const most = Math.max(0.01, ...rated.map(({ share }) => share));
  const bar = { most, shown: options.bars && rated.length > 0 };
  const opponents = options.dangers && thought ? thought.opponents : [];
  place.classList.toggle("dangers", options.dangers);
  const columns = held.map((tile) => column(tile, rated.find((one) => isDiscard(one, tile)), bar, opponents));
  if (seat.drawn) {
    columns.push(column(seat.drawn, rated.find((one) => isDiscard(one, seat.drawn)), bar, opponents, "drawn"));
  }
  const acts = rated.filter(({ name }) => name !== "discard").map((one) => column("", one, bar, opponents, "act"));
  const heads = opponents.length ? [heading(opponents, options.board, bar)] : [];
  const picked = html("div", { class: "picked", "aria-live": "polite" });
  for (const [made, rated] of [...columns, ...acts]) {
    if (rated) made.addEventListener("click", () => pick(place, picked, made, rated));
  }
  const nodes = (all) => all.map(([made]) => made);
  place.replaceChildren(html("div", { class: "hand" }, ...heads, ...nodes(columns)), html("div", { class: "acts" }, ...nodes(acts)), picked);
  place.querySelector(".acts").hidden = !acts.length;
}

// Shows what a choice comes to: its share, the tiles accepted, its terms; a second click hides it.
function pick(place, picked, made, rated) {
  const isNew = !made.classList.contains("chosen-here");
  for (const other of place.querySelectorAll(".chosen-here")) other.classList.remove("chosen-here");
  made.classList.toggle("chosen-here", isNew);
  if (!isNew) return picked.replaceChildren();
  const terms = Object.entries(rated.terms).filter(([, value]) => value).map(([name, value]) => `${name}: ${points(value)}`);
  const accepted = rated.accepted ? [`${t("accepts")} `, tiles(rated.accepted), " "] : [];
  picked.replaceChildren(html("b", {}, ...choice(rated), ` ${percent(rated.share)}% `), ...accepted, html("span", {}, terms.join(" · ")));
}

const isDiscard = ({ name, tile }, wished) => name === "discard" && tile === wished;

function column(tile, rated, bar, opponents, kinds = "") {
  const marks = rated ? `${rated.chosen ? " best" : ""}${rated.done ? " done" : ""}` : "";
  const made = html(rated ? "button" : "div", { class: `choice ${kinds}${marks}`, ...(rated && { title: describe(rated) }) });
  if (bar.shown) {
    const share = rated ? rated.share : 0;
    const fill = html("i");
    fill.style.height = `${(100 * share) / bar.most}%`;
    const number = rated ? percent(share) : "";
    made.append(html("b", {}, number), html("span", { class: "level" }, fill));
  }
  if (!tile) made.append(html("span", { class: "name" }, actName(rated)));
  const shown = tile || rated.tile;
  if (shown) made.append(tiles(shown));
  if (rated) made.append(html("span", { class: "mark" }, mark(rated)));
  if (tile && opponents.length) made.append(...dangers(tile, opponents));
  return [made, rated];
}

const mark = ({ chosen, done }) => (chosen && done ? "●▲" : chosen ? "●" : done ? "▲" : " ");
const percent = (share) => (share >= 0.9995 ? "100" : share >= 0.0995 ? (100 * share).toFixed(0) : share >= 0.0005 ? (100 * share).toFixed(1) : "0");

// What a choice comes to, as text: on a mouse's request.
export function describe(rated) {
  const terms = Object.entries(rated.terms).map(([name, value]) => `${name} ${value}`);
  const accepted = rated.accepted ? [t("accepts {tiles}", { tiles: rated.accepted })] : [];
  return [t("{title}: ", { title: rated.text }) + `${percent(rated.share)}%`, ...accepted, ...terms].join("\n");
}

function heading(opponents, board, bar) {
  const rows = opponents.map(({ seat }) => html("span", { class: "danger" }, windName(board.seats[seat].wind)));
  const above = bar.shown ? [html("b", {}, "%"), html("span", { class: "level" })] : [];
  return html("div", { class: "choice heads", "aria-hidden": "true" }, ...above, html("span", { class: "blank" }), html("span", { class: "mark" }, " "), ...rows, html("span", { class: "danger all" }, t("all")));
}

function dangers(tile, opponents) {
  const chances = opponents.map(({ deal_in: each }) => each[kindOf(tile)]);
  const all = 100 * (1 - chances.reduce((safe, chance) => safe * (1 - chance / 100), 1));
  const names = [...opponents.map(() => "danger"), "danger all"];
  return [...chances, all].map((chance, at) => danger(chance, names[at]));
}

// --- the decision -------------------------------------------------------------------------------

export function showDecision(place, decision, review, board) {
  place.hidden = !decision;
  if (!decision) return;
  const head = decision.equal ? t("As {name}", { name: review.by }) : decision.size;
  const tone = decision.equal ? "good" : decision.counts ? "bad" : "soft";
  const parts = [html("h2", {}, `${decision.at} `, html("span", { class: tone }, head))];
  if (decision.sentence) parts.push(html("p", { class: "sentence" }, decision.sentence));
  if (decision.cost) parts.push(html("p", {}, costText(decision.cost)));
  if (decision.tags.length) parts.push(html("p", {}, ...decision.tags.flatMap((tag) => [html("span", { class: "tag" }, tag), " "])));
  if (decision.comparison) parts.push(comparison(decision, board));
  const done = decision.rated.find((one) => one.done);
  const best = decision.rated.find((one) => one.chosen);
  for (const [one, sign] of [[done, "▲"], [best !== done && best, "●"]]) {
    if (one && one.accepted) parts.push(html("p", { class: "accepted" }, `${sign} ${t("accepts")} `, tiles(one.accepted)));
  }
  place.replaceChildren(...parts);
}

// What playouts show of a different choice, with the 95% interval of the places.
function costText({ ranks, points: gain, deals, verdict }) {
  const [places, low, high] = ranks.map((value) => (value === null ? "?" : value.toFixed(3)));
  return t("{n} playouts: {verdict}, {places} places ({low} to {high}), {points} points", {
    n: points(deals), verdict: t(verdict), places, low, high, points: gain[0] === null ? "?" : format(gain[0], "points"),
  });
}

function comparison(decision, board) {
  const { choices, unit, rows } = decision.comparison;
  const titles = [t("your choice"), decision.equal ? t("next best") : t("better")];
  const gain = t("gain, {unit}", { unit: t(unit) });
  const head = [[], ...titles.map((title, at) => [t("{title}: ", { title }), html("span", { class: "choice-name" }, choices[at])]), [gain]];
  const cell = (value, kind) => html("td", { class: "number" }, value === null ? "" : format(value, kind));
  const lines = rows.map((row) => {
    const sign = row.gain > 0 ? "+" : "";
    const shown = row.gain === null ? "" : format(row.gain, unit);
    return html("tr", row.is_total ? { class: "total" } : {},
      html("th", { scope: "row" }, termName(row, board)), cell(row.yours, row.unit), cell(row.other, row.unit),
      html("td", { class: "number" }, shown === "0" ? "" : `${sign}${shown}`));
  });
  const heads = head.map((title, at) => html("th", { scope: "col", ...(at && { class: "number" }) }, ...title));
  return html("table", {}, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...lines));
}

// --- opponents ----------------------------------------------------------------------------------

// What the seat can estimate of an opponent: how likely it is tenpai and, on demand, what it waits on.
export function estimate(opponent, withWaits) {
  const chance = opponent.tenpai < 100 ? t("tenpai {n}%", { n: format(opponent.tenpai, "%") }) : "";
  const made = html("span", { class: "estimate" }, chance);
  if (!withWaits) return made;
  const likely = opponent.deal_in.map((chance, kind) => [chance, kind]).filter(([chance]) => chance >= LEAST);
  for (const [chance, kind] of likely.sort((one, other) => other[0] - one[0]).slice(0, LIKELY)) {
    made.append(" ", html("span", { class: "wait" }, tiles(KINDS[kind]), html("small", {}, `${format(chance, "%")}%`)));
  }
  return made;
}

// --- the list -----------------------------------------------------------------------------------

// Lists the mistakes from the threshold on.
export function showList(place, tally, review, open) {
  const found = review.mistakes;
  const lines = found.map((decision) => {
    const button = html("button", { "data-at": decision.at, title: decision.sentence }, html("span", { class: "when" }, decision.at), ...versus(decision), html("b", {}, decision.size));
    button.addEventListener("click", () => open(decision));
    return html("li", {}, button);
  });
  place.replaceChildren(...lines);
  const others = review.decisions.filter(({ equal }) => !equal).length;
  tally.textContent = t("mistakes: {n} of {differ} different choices in {all} decisions", { n: found.length, differ: others, all: review.decisions.length });
}

function versus(decision) {
  const done = decision.rated.find((one) => one.done);
  const best = decision.rated.find((one) => one.chosen);
  return [html("span", { class: "versus" }, ...choice(done), " → ", ...choice(best))];
}

function choice(rated) {
  if (!rated) return ["?"];
  const name = rated.name === "discard" ? [] : [`${actName(rated)} `];
  return [...name, ...(rated.tile ? [tiles(rated.tile)] : [])];
}

export function markCurrent(place, decision) {
  for (const button of place.querySelectorAll("button")) {
    const isHere = Boolean(decision) && button.dataset.at === decision.at;
    if (isHere) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    if (isHere) place.scrollTop = Math.max(0, button.offsetTop - place.offsetTop - place.clientHeight / 2);
  }
}

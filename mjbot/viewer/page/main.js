// The page: which moment is shown, and what the keys and buttons do.

import { Asker } from "/page/ask.js";
import { kyokuName, Picture } from "/page/draw.js";
import { html, showResult, showSeats, showTalk, showThoughts } from "/page/panel.js";
import { estimate, markCurrent, Review, showDecision, showList, showStrip } from "/page/review.js";
import { address, fetchJson, follow, readRecord, unpacked } from "/page/source.js";
import { t } from "/page/text.js";
import { Timeline } from "/page/timeline.js";

const $ = (id) => document.getElementById(id);
const config = JSON.parse($("config").textContent);
const picture = new Picture($("board"));
const MOST_GAMES = 8; // of a running table that are kept
const PACE_MS = config.pace ?? 250; // between two events of a game that is played here
const MOST_BEHIND = 25; // events; who is further behind sees the newest at once
const PAUSE_MS = 150; // before a player is asked what it thinks

const games = [new Timeline()];
const shown = { game: 0, kyoku: 0, step: 0, seat: config.seat, hands: config.hands !== false };
let review = null; // of the game that is shown
const strip = { bars: true, dangers: false };
const opened = location.hash; // what is shown first overwrites it
let wanted = readPlace();
let following = config.mode === "live";
let playing = 0;
let speed = 2;
let closed = ""; // the result that was closed
let thoughts = Boolean(config.by) && !config.plays; // who plays asks for hints
const asker = new Asker($("ask"), showProblem);
const thought = new Map();
let begun = false; // whether a board was drawn
let asking = 0;

const timeline = () => games[shown.game];
const isOpen = (seat) => shown.hands || seat === shown.seat;

// --- showing ------------------------------------------------------------------------------------

function show() {
  const line = timeline();
  if (!line.kyoku.length) return;
  shown.kyoku = Math.max(0, Math.min(shown.kyoku, line.kyoku.length - 1));
  const { steps } = line.kyoku[shown.kyoku];
  shown.step = Math.max(0, Math.min(shown.step, steps.length));
  const board = line.board(shown.kyoku, shown.step);
  picture.draw(board, line.names, shown.seat, isOpen);
  document.body.dataset.place = `${shown.kyoku}/${shown.step}`;
  showTitle(line.kyoku[shown.kyoku].title);
  if (!begun) performance.mark("board");
  begun = true;
  showText(line, board, line.step(shown.kyoku, shown.step));
  later();
}

// The players and the kyoku, after what the page is about; a file of many games numbers them.
function showTitle(title) {
  const number = recordGame ? `#${recordGame + 1}` : "";
  $("title").textContent = [config.subject, title, number].filter(Boolean).join(" · ");
  document.title = $("title").textContent;
}

function showText(line, board, message) {
  const by = message && message.by >= 0 ? `${line.names[message.by]} ` : "";
  const text = message ? `${by}${message.text}` : t("the tiles are dealt");
  const number = html("small", {}, ` ${positionName(message, board)}${t("event {n}", { n: message ? message.n : line.kyoku[shown.kyoku].n })}`);
  $("event").replaceChildren(text, number);
  const feed = message && message.feed;
  $("feed").hidden = !feed;
  $("feed").textContent = feed || "";
  showTalk($("talk"), (message && message.talk) || [], board, line.names);
  const place = `${shown.game}/${shown.kyoku}/${message && message.kind}`;
  showResult($("result"), closed === place ? null : board.result, line.names, () => {
    closed = place;
    show();
  });
  const slider = $("slider");
  slider.max = line.kyoku[shown.kyoku].steps.length;
  slider.value = shown.step;
  $("kyoku").value = shown.kyoku;
  askThoughts(line, message, board);
}

// The choice that the seat below (or else another) has here, as explain, draw and review name it.
function positionName(message, board) {
  const choices = (message && message.choices) || {};
  const seat = shown.seat in choices ? shown.seat : Object.keys(choices)[0];
  if (seat === undefined) return "";
  const [wind, number] = board.kyoku.split(" ");
  return t("{position} of seat {seat}, ", { position: `${wind[0]}${number}-${board.honba}:${choices[seat]}`, seat });
}

let writing = 0;

// The address follows, but not at once: browsers refuse to write it many times a second.
function later() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    history.replaceState(null, "", `#${shown.seat}/${shown.kyoku}/${shown.step}`);
  }, 200);
}

// The place of the address: SEAT/KYOKU/STEP, or a decision of the review such as E2-0:8; without
// one the costliest decision of a review.
function readPlace(hash = location.hash) {
  const name = decodeURIComponent(hash.slice(1));
  const decision = review && review.named(name || config.at || "");
  if (decision) return [review.seat, ...momentOf(decision.n)];
  const place = (name || config.place || "").split("/").map(Number);
  return place.length === 3 && place.every((part) => Number.isInteger(part) && part >= 0) ? place : null;
}

const seatCount = () => timeline().kyoku[0]?.board.seats.length || 4;

// Kyoku and step of an event by its number.
function momentOf(n) {
  const { kyoku } = timeline();
  const at = kyoku.findLastIndex((one) => one.n <= n);
  return at < 0 ? [0, 0] : [at, n - kyoku[at].n];
}

// Goes to the place of the address once it has arrived; true while it is still to come.
function goToWanted() {
  if (!wanted) return false;
  const [seat, kyoku, step] = wanted;
  const there = timeline().kyoku[kyoku];
  if (!there || there.steps.length < step) return true;
  wanted = null;
  shown.seat = seat % seatCount();
  following = false;
  go(kyoku, step);
  return false;
}

// Shows the board of a complete game: the nearest to a place that it does not have.
function settle() {
  if (!goToWanted()) return show();
  const [seat, kyoku, step] = wanted;
  wanted = null;
  shown.seat = seat % seatCount();
  go(kyoku, step);
}

// --- moving -------------------------------------------------------------------------------------

function go(kyoku, step) {
  [shown.kyoku, shown.step] = [kyoku, step];
  show();
  showFollowing();
}

function move(way) {
  const line = timeline();
  if (!line.kyoku.length) return;
  const step = shown.step + way;
  if (step < 0) {
    if (shown.kyoku > 0) go(shown.kyoku - 1, line.kyoku[shown.kyoku - 1].steps.length);
  } else if (step > line.kyoku[shown.kyoku].steps.length) {
    if (shown.kyoku + 1 < line.kyoku.length) go(shown.kyoku + 1, 0);
    else stop();
  } else go(shown.kyoku, step);
}

function stop() {
  clearInterval(playing);
  playing = 0;
  $("play-icon").setAttribute("d", "M7 4v16l13-8z");
}

function play() {
  clearInterval(playing);
  playing = setInterval(() => move(1), 1000 / speed);
  $("play-icon").setAttribute("d", "M6 5h4v14H6zM14 5h4v14h-4z");
}

const find = (way, isWished) => go(...timeline().find(shown.kyoku, shown.step, way, isWished));
const isChoice = ({ choices }) => choices && shown.seat in choices;
const isReviewed = (isWished) => ({ n }) => review && isWished(review.byEvent.get(n));

function toReviewed(way, isWished) {
  if (!review) return;
  const [kyoku, step] = timeline().find(shown.kyoku, shown.step, way, isReviewed(isWished));
  const message = timeline().step(kyoku, step);
  if (!message || !isReviewed(isWished)(message)) return; // there is none further on
  shown.seat = review.seat;
  go(kyoku, step);
}

function openDecision(decision) {
  shown.seat = review.seat;
  act("stop");
  go(...momentOf(decision.n));
  if (document.documentElement.clientWidth < 860) $("table").scrollIntoView();
}
const lengthOf = (kyoku) => timeline().kyoku[kyoku].steps.length;

const actions = {
  on: () => move(1),
  back: () => move(-1),
  choiceOn: () => find(1, isChoice),
  choiceBack: () => find(-1, isChoice),
  feedOn: () => find(1, ({ feed }) => feed),
  feedBack: () => find(-1, ({ feed }) => feed),
  mistakeOn: () => toReviewed(1, (decision) => review.isMistake(decision)),
  mistakeBack: () => toReviewed(-1, (decision) => review.isMistake(decision)),
  differOn: () => toReviewed(1, (decision) => decision && !decision.equal),
  differBack: () => toReviewed(-1, (decision) => decision && !decision.equal),
  bars: () => toggleStrip("bars"),
  dangers: () => toggleStrip("dangers"),
  stop: () => {},
  kyokuOn: () => (shown.kyoku + 1 < timeline().kyoku.length ? go(shown.kyoku + 1, 0) : go(shown.kyoku, lengthOf(shown.kyoku))),
  kyokuBack: () => go(shown.step ? shown.kyoku : Math.max(0, shown.kyoku - 1), 0),
  start: () => go(shown.kyoku, 0),
  end: () => go(shown.kyoku, lengthOf(shown.kyoku)),
  play: () => (playing ? stop() : play()),
  faster: () => setSpeed(speed * 1.5),
  slower: () => setSpeed(speed / 1.5),
  turn: () => go(shown.kyoku, shown.step, (shown.seat = (shown.seat + 1) % seatCount())),
  hands: () => go(shown.kyoku, shown.step, (shown.hands = !shown.hands)),
  index: () => toggleRoot("index", "on"),
  thoughts: () => go(shown.kyoku, shown.step, (thoughts = !thoughts)),
  colours: () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.colours || (dark ? "dark" : "light");
    keep("colours", now === "dark" ? "light" : "dark");
  },
  follow: () => setFollowing(!following),
  help: () => $("help").showModal(),
  gameOn: () => openGame(record, recordGame + 1),
  gameBack: () => recordGame && openGame(record, recordGame - 1),
};

const MOVES = ["on", "back", "choiceOn", "choiceBack", "mistakeOn", "mistakeBack", "differOn", "differBack", "feedOn", "feedBack", "kyokuOn", "kyokuBack", "start", "end", "play"];
const KEYS = {
  ArrowRight: "on", ArrowLeft: "back", ".": "choiceOn", ",": "choiceBack", "]": "kyokuOn",
  PageDown: "kyokuOn", "[": "kyokuBack", PageUp: "kyokuBack", Home: "start", End: "end",
  m: "mistakeOn", M: "mistakeBack", x: "differOn", X: "differBack", b: "bars", g: "dangers",
  f: "feedOn", F: "feedBack", " ": "play", "+": "faster", "-": "slower", v: "turn", h: "hands", i: "index", t: "thoughts",
  d: "colours", l: "follow", "?": "help", n: "gameOn", p: "gameBack",
};

function act(name) {
  if (!timeline().kyoku.length && name !== "help" && name !== "colours") return;
  if (MOVES.includes(name)) setFollowing(false, false);
  if (!["on", "play", "faster", "slower"].includes(name) && playing) stop();
  wanted = null;
  actions[name]();
  showSwitches();
}

function setSpeed(perSecond) {
  speed = Math.max(0.3, Math.min(30, perSecond));
  if (playing) play();
}

function toggleStrip(name) {
  strip[name] = !strip[name];
  show();
}

function toggleRoot(name, value) {
  keep(name, document.documentElement.dataset[name] === value ? "" : value);
}

function keep(name, value) {
  if (value) document.documentElement.dataset[name] = value;
  else delete document.documentElement.dataset[name];
  try {
    localStorage.setItem(`mjbot-${name}`, value);
  } catch {
    // a file may have no storage
  }
}

function recall(name) {
  try {
    const value = localStorage.getItem(`mjbot-${name}`);
    if (value) document.documentElement.dataset[name] = value;
  } catch {
    // a file may have no storage
  }
}

function showSwitches() {
  const pressed = { hands: shown.hands, thoughts, ...strip, index: "index" in document.documentElement.dataset };
  for (const [name, isOn] of Object.entries(pressed)) {
    document.querySelector(`[data-do=${name}]`).setAttribute("aria-pressed", isOn);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === " " && event.target.closest("button, .mine")) return;
  if (following && /^[1-9]$/.test(event.key) && asker.key(event.key)) return;
  const name = event.shiftKey && { ArrowRight: "choiceOn", ArrowLeft: "choiceBack" }[event.key];
  const wish = name || KEYS[event.key];
  if (!wish) return;
  event.preventDefault();
  act(wish);
});
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => act(button.dataset.do));
}
$("help-button").addEventListener("click", () => $("help").showModal());
$("slider").addEventListener("input", (event) => {
  setFollowing(false, false);
  go(shown.kyoku, Number(event.target.value));
});
$("kyoku").addEventListener("change", (event) => {
  setFollowing(false, false);
  go(Number(event.target.value), 0);
});
window.addEventListener("hashchange", () => {
  wanted = readPlace();
  goToWanted();
});

// --- messages ------------------------------------------------------------------------------

function showKyoku() {
  const options = timeline().kyoku.map(({ board }, place) => {
    const honba = board.honba ? t(", {n} honba", { n: board.honba }) : "";
    return html("option", { value: place }, `${kyokuName(board.kyoku)}${honba}`);
  });
  $("kyoku").replaceChildren(...options);
  $("kyoku").value = shown.kyoku;
}

function take(message) {
  const line = timeline();
  const before = line.kyoku.length;
  for (const one of message) {
    if (one.type === "problem") showProblem(one.text);
    else line.add(one);
  }
  if (line.kyoku.length !== before) showKyoku();
  if (goToWanted()) return;
  if (!before && line.kyoku.length) show();
  else if (line.kyoku.length) $("slider").max = lengthOf(shown.kyoku);
}

function showProblem(text) {
  $("problem").hidden = !text;
  $("problem").textContent = text;
}

function takeLive(message) {
  if (message.type === "restart") {
    games.splice(0, games.length, new Timeline());
    shown.game = 0;
    asker.clear();
    return;
  }
  if (message.type === "ask" || message.type === "asked") {
    asker.take(message);
    if (message.type === "ask") shown.seat = message.seat;
    if (following) soon();
    return;
  }
  if (message.type === "game" && games[games.length - 1].kyoku.length) {
    games.push(new Timeline());
    if (games.length > MOST_GAMES) {
      games.shift();
      shown.game = Math.max(0, shown.game - 1);
    }
    showGames();
  }
  const newest = games[games.length - 1];
  newest.add(message);
  if (following) shown.game = games.length - 1;
  if (timeline() !== newest) return;
  if (message.type === "kyoku") showKyoku();
  if (following) soon();
  else if (!goToWanted() && newest.kyoku.length) $("slider").max = lengthOf(shown.kyoku);
}

let drawing = false;

// At most one drawing per frame, however fast events arrive.  A player sees them one by one.
function soon() {
  if (drawing) return;
  drawing = true;
  const draw = () => {
    drawing = false;
    if (!following) return;
    if (config.plays && oneByOne()) soon();
    else if (timeline().kyoku.length) go(...timeline().end);
    if (config.plays && !drawing) showAsk();
  };
  if (config.plays && begun) setTimeout(draw, PACE_MS);
  else requestAnimationFrame(draw);
}

// Shows the next event of a game that the person plays; false where nothing or too much is behind.
function oneByOne() {
  const [kyoku, step] = timeline().end;
  if (kyoku !== shown.kyoku || step - shown.step > MOST_BEHIND || step - shown.step < 2) return false;
  move(1);
  asker.place.hidden = true;
  return true;
}

function showAsk() {
  asker.show();
  asker.offerHand($("board"));
}

function showGames() {
  $("games").hidden = games.length < 2;
  $("games").replaceChildren(...games.map((_, place) => html("option", { value: place }, t("game {n}", { n: place + 1 }))));
  $("games").value = shown.game;
}

$("games").addEventListener("change", (event) => {
  setFollowing(false, false);
  shown.game = Number(event.target.value);
  showKyoku();
  go(0, 0);
});

function setFollowing(wish, moves = true) {
  if (config.mode !== "live") return;
  following = wish;
  if (wish && moves) {
    shown.game = games.length - 1;
    showGames();
    showKyoku();
    if (timeline().kyoku.length) go(...timeline().end);
  }
  showFollowing();
}

function showFollowing() {
  if (config.mode !== "live") return;
  $("follow").setAttribute("aria-pressed", following);
  $("follow").textContent = following ? t("Following") : t("Follow");
  if (!config.plays) return;
  if (!following) asker.place.hidden = true;
  else if (!drawing) showAsk();
}

// --- what a player thinks -----------------------------------------------------------------------

function askThoughts(line, message, board) {
  clearTimeout(asking);
  const seats = message && message.choices ? Object.keys(message.choices).map(Number) : [];
  const seat = seats.includes(shown.seat) ? shown.seat : seats[0];
  const chooser = seat !== undefined && isOpen(seat) ? seat : null;
  const decision = message && review ? review.at(message.n, shown.seat) : undefined;
  const about = { board, message, seat: decision ? shown.seat : chooser, decision };
  if (review) {
    showDecision($("decision"), decision, review, board);
    markCurrent($("mistakes"), decision);
  }
  if (decision) return showThought(decision, about);
  showThought(null, about);
  if (!thoughts || chooser === null) return;
  const at = `${message.n}:${chooser}`;
  if (line.thoughts && line.thoughts[at]) showThought(line.thoughts[at], about);
  else if (config.mode !== "file" && config.by) asking = setTimeout(() => fetchThoughts(at, about), PAUSE_MS);
}

// Shows what is thought at a moment: the table of all terms, the hand with its bars, the opponents.
function showThought(thought, { board, message, seat, decision }) {
  const { names } = timeline();
  $("thoughts").hidden = !thought || !thoughts;
  if (thought && thoughts) showThoughts($("thoughts"), thought, message.did && message.did[seat], names[seat]);
  const viewed = thought ? seat : shown.seat;
  const isShown = review || (config.by && !config.plays) || thought;
  showStrip($("strip"), isShown && isOpen(viewed) ? board.seats[viewed] : null, thought, { ...strip, board });
  const opponents = (thought && thought.opponents) || [];
  const estimates = opponents.map((one) => [one.seat, estimate(one, strip.dangers)]);
  showSeats($("seats"), board, names, isOpen, new Map(decision || thoughts ? estimates : []));
}

async function fetchThoughts(at, about) {
  const [n, seat] = at.split(":");
  const query = { n, seat, ...(config.mode === "record" && { record, game: recordGame }), ...(config.mode === "live" && { game: shown.game - games.length + 1 }) };
  const name = address("", query);
  const now = asking;
  try {
    if (!thought.has(name)) thought.set(name, await fetchJson("/api/explain", query));
    if (thought.size > 500) thought.delete(thought.keys().next().value);
    if (now === asking) showThought(thought.get(name), about);
  } catch (problem) {
    if (now !== asking) return;
    $("thoughts").hidden = false;
    $("thoughts").replaceChildren(html("p", { class: "problem" }, problem.message));
  }
}

// --- a review -----------------------------------------------------------------------------------

function takeReview(data) {
  review = data ? new Review(data) : null;
  for (const id of ["list", "review-moves"]) $(id).hidden = !review;
  document.querySelector("[data-do=thoughts]").hidden = !config.by && !review;
  for (const name of ["bars", "dangers"]) {
    document.querySelector(`[data-do=${name}]`).hidden = !config.by && !review;
  }
  if (!review) {
    $("decision").hidden = true;
    return;
  }
  thoughts = false; // the comparison is shown; the table of all terms on demand
  shown.seat = review.seat;
  $("threshold").max = Math.ceil(review.most / review.step) * review.step;
  $("threshold").step = review.step;
  $("threshold").value = review.step;
  showMistakes();
  showSwitches();
}

function showMistakes() {
  review.threshold = Number($("threshold").value);
  $("least").textContent = review.amount(review.threshold);
  showList($("mistakes"), $("tally"), review, openDecision);
}

$("threshold").addEventListener("input", () => {
  showMistakes();
  show();
});

// --- records ------------------------------------------------------------------------------------

let record = config.record || 0;
let recordGame = 0;
let reading = 0;

async function openGame(which, game) {
  if (config.mode !== "record") return;
  const mine = ++reading;
  const fresh = new Timeline();
  let isNew = true;
  const begin = () => {
    isNew = false;
    showProblem("");
    [record, recordGame] = [which, game];
    games.splice(0, games.length, fresh);
    [shown.game, shown.kyoku, shown.step, closed] = [0, 0, 0, ""];
  };
  try {
    await readRecord(which, game, (message) => {
      if (mine !== reading) return;
      if (isNew) begin();
      take(message);
    });
    if (mine === reading) await readReview(which, game);
    if (mine === reading) settle();
    document.body.dataset.read = "all";
  } catch (problem) {
    showProblem(problem.message);
  }
}

// The review of a game that was named with it.
async function readReview(which, game) {
  const isReviewed = config.review && which === (config.record || 0) && game === (config.game || 0);
  takeReview(isReviewed ? await fetchJson("/api/review", {}) : null);
  wanted = wanted || (review && readPlace(opened));
}

const MOST_LISTED = 300;

function listRecords() {
  const part = $("filter").value.toLowerCase();
  const found = config.records.map((name, at) => [name, at]).filter(([name]) => name.toLowerCase().includes(part));
  const rows = found.slice(0, MOST_LISTED).map(([name, at]) => {
    const button = html("button", { ...(at === record && { "aria-current": "true" }) }, name);
    button.addEventListener("click", () => {
      $("records").close();
      openGame(at, 0);
    });
    return html("li", {}, button);
  });
  if (found.length > MOST_LISTED) rows.push(html("li", {}, t("and {n} more: name a part", { n: found.length - MOST_LISTED })));
  $("record-list").replaceChildren(...rows);
  $("records-title").textContent = t("{n} records", { n: found.length });
}

// --- the start ----------------------------------------------------------------------------------

async function begin() {
  recall("index");
  recall("colours");
  showSwitches();
  takeReview(null);
  if (config.plays) document.querySelector("[data-do=thoughts]").textContent = t("Hint");
  if (config.mode === "file") {
    const game = await unpacked($("data").textContent);
    Object.assign(games[0], { names: game.names, pairs: game.pairs, kyoku: game.kyoku, thoughts: game.thoughts });
    showKyoku();
    takeReview(game.review);
    wanted = readPlace(opened);
    settle();
    document.body.dataset.read = "all";
  } else if (config.mode === "live") {
    $("live").hidden = false;
    showFollowing();
    follow(takeLive, (isOn) => {
      $("connection").textContent = isOn ? "" : t("no connection: trying again");
      document.body.dataset.connected = isOn;
    });
  } else {
    config.records = await fetchJson("/api/records");
    $("records-button").hidden = config.records.length < 2;
    $("records-button").addEventListener("click", () => {
      listRecords();
      $("records").showModal();
    });
    $("filter").addEventListener("input", listRecords);
    await openGame(record, config.game || 0);
  }
}

begin();

"use strict";
// Seats the Majiang AI at an mjai TCP table:
//   node bridge.js --packages FOLDER [--name NAME] [--games N] mjsonp://HOST:PORT/ROOM
// FOLDER holds node_modules/@kobalab.  Exit status: 0 done, 2 bad arguments or packages,
// 3 unreachable, 4 the server broke off.  Messages for the user go to stderr, one line each.

const net = require("node:net");
const { Translator } = require("./translator.js");

const BAD_ARGUMENTS = 2;
const UNREACHABLE = 3;
const PROTOCOL_FAULT = 4;
const MAX_LINE_CHARS = 1 << 20;
const SILENCE_MS = 15 * 60 * 1000; // a table may wait 60 s for each of the others at every event
const BUSY_RETRY_MS = 250;
const BUSY_RETRIES = 40;

function fail(status, text) {
  process.stderr.write(`external:majiang: ${text}\n`);
  process.exit(status);
}

function readArguments(argv) {
  const options = { packages: ".", name: "majiang", games: "1" };
  const rest = [];
  for (let i = 0; i < argv.length; i++) {
    const key = argv[i].startsWith("--") ? argv[i].slice(2) : null;
    if (key === null) rest.push(argv[i]);
    else if (key in options && i + 1 < argv.length) options[key] = argv[++i];
    else fail(BAD_ARGUMENTS, `argument ${argv[i]}: unknown, or lacks its value`);
  }
  const url = /^[a-z]+:\/\/\[?([^/\]]+?)\]?(?::(\d+))?(?:\/(.*))?$/.exec(rest[0] || "");
  if (rest.length !== 1 || !url) fail(BAD_ARGUMENTS, "give one URL, mjsonp://HOST:PORT/ROOM");
  return {
    host: url[1], port: Number(url[2] || 11600), room: url[3] || "default",
    name: options.name, games: Number(options.games), packages: options.packages,
  };
}

function loadAi(folder) {
  const load = (name) => require(require.resolve(name, { paths: [folder] }));
  try {
    return { core: load("@kobalab/majiang-core"), AiPlayer: load("@kobalab/majiang-ai") };
  } catch (problem) {
    const reason = String(problem.message).split("\n")[0];
    return fail(BAD_ARGUMENTS, `packages not usable in ${folder} (${reason}); run: mjbot setup-node`);
  }
}

class Player {
  constructor(options) {
    this.options = options;
    this.ai = loadAi(options.packages);
    this.gamesLeft = options.games;
    this.busy = 0;
  }

  join() {
    const { host, port } = this.options;
    const warn = (text) => process.stderr.write(`external:majiang: ${text}\n`);
    this.translator = new Translator(this.ai.core, this.ai.AiPlayer, warn);
    this.started = false;
    this.text = "";
    this.socket = net.connect({ host, port, noDelay: true, keepAlive: true });
    this.socket.setEncoding("utf8");
    this.socket.setTimeout(SILENCE_MS, () => fail(PROTOCOL_FAULT, "the server has gone silent"));
    this.socket.on("data", (chunk) => this.receive(chunk));
    this.socket.on("error", (problem) => this.lost(problem));
    this.socket.on("end", () => this.lost(null));
  }

  receive(chunk) {
    this.text += chunk;
    if (this.text.length > MAX_LINE_CHARS) fail(PROTOCOL_FAULT, "the server sent an endless line");
    const lines = this.text.split("\n");
    this.text = lines.pop();
    for (const line of lines) if (line.trim()) this.hear(line);
  }

  hear(line) {
    let event;
    try {
      event = JSON.parse(line);
    } catch {
      fail(PROTOCOL_FAULT, `the server sent no JSON: ${line.slice(0, 80)}`);
    }
    if (event.type === "error") return this.refused(String(event.message));
    if (event.type === "end_game") return this.gameOver();
    if (event.type === "start_game") {
      this.started = true;
      this.seat = event.id;
    }
    const { name, room } = this.options;
    const reply = event.type === "hello" ? { type: "join", name, room } : this.translator.respond(event);
    return this.socket.write(JSON.stringify(reply) + "\n");
  }

  refused(message) {
    // Between two games a server may still be clearing the table.
    if (!this.started && message.includes("busy") && this.busy++ < BUSY_RETRIES) {
      this.socket.removeAllListeners("end");
      this.socket.destroy();
      setTimeout(() => this.join(), BUSY_RETRY_MS);
      return;
    }
    // A game that is void for another seat's fault costs no more than itself.
    if (this.started && this.gamesLeft > 1 && !message.startsWith(`Error in player ${this.seat}'s response:`)) {
      process.stderr.write(`external:majiang: the game is void: ${message.slice(0, 200)}\n`);
      return this.gameOver();
    }
    fail(PROTOCOL_FAULT, `error from the server: ${message}`);
  }

  gameOver() {
    this.socket.removeAllListeners("end");
    this.socket.destroy();
    this.gamesLeft -= 1;
    this.busy = 0;
    if (this.gamesLeft > 0) this.join();
  }

  lost(problem) {
    const { host, port } = this.options;
    if (this.socket.connecting || (problem && problem.code === "ECONNREFUSED")) {
      fail(UNREACHABLE, `cannot reach ${host}:${port} (${problem.code}): is the server running?`);
    }
    fail(PROTOCOL_FAULT, "the server closed the connection before the game was over");
  }
}

new Player(readArguments(process.argv.slice(2))).join();

"use strict";
// Feeds events to our translator and prints, per event, its answer and what the AI was told.
//   node drive_translator.js TRANSLATOR PACKAGES < lines
// A line is {"event": ..., "answer": ...}; `answer` is what a scripted AI says to it.  Without
// "answer" on the first line the real AI plays.

const fs = require("node:fs");
const [translatorPath, packages] = process.argv.slice(2);
const load = (name) => require(require.resolve(name, { paths: [packages] }));
const core = load("@kobalab/majiang-core");
const RealAi = load("@kobalab/majiang-ai");
const { Translator } = require(translatorPath);

const lines = fs.readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));
let told = [];
let scripted = null;
const warnings = [];

class ScriptedAi {
  action(message, callback) {
    told.push(message);
    callback(scripted);
  }
}

class WatchedAi extends RealAi {
  action(message, callback) {
    told.push(message);
    super.action(message, callback);
  }
}

const Ai = "answer" in lines[0] ? ScriptedAi : WatchedAi;
const translator = new Translator(core, Ai, (text) => warnings.push(text));
for (const { event, answer } of lines) {
  told = [];
  scripted = answer;
  const reply = translator.respond(event);
  process.stdout.write(JSON.stringify({ reply, told, warnings: warnings.splice(0) }) + "\n");
}

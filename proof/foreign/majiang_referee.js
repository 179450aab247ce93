"use strict";
// Prints hanchan that majiang-core deals and judges and four majiang-ai play, one JSON a line:
//   node majiang_referee.js FOLDER SEED GAMES
// FOLDER holds node_modules/@kobalab.  Walls and seats come from Math.random, which SEED replaces.

const [folder, seed, games] = process.argv.slice(2);
const load = (name) => require(require.resolve(name, { paths: [folder] }));
const Majiang = load("@kobalab/majiang-core");
const Player = load("@kobalab/majiang-ai");

let state = Number(seed) >>> 0;
Math.random = () => { // mulberry32
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};

for (let game = 0; game < Number(games); game++) {
  const rule = Majiang.rule({ "ダブル役満あり": false });
  const players = [0, 1, 2, 3].map(() => new Player());
  const table = new Majiang.Game(players, null, rule, "majiang-core");
  table.do_sync();
  process.stdout.write(JSON.stringify(table._paipu) + "\n");
}

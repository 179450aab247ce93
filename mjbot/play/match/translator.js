"use strict";
// One Majiang AI at an mjai table: events in, answers out.  No sockets, no clock.
//
// Majiang names seats by wind, tiles as m1..m9 m0(red) .. z1..z7, melds from the caller's view:
// "+" right, "=" across, "-" left, written after the claimed tile.

const SUITED_RED = /^5([mps])r$/;
const HONOURS = ["E", "S", "W", "N", "P", "F", "C"];
const NINE_TERMINALS = "kyushukyuhai";
const SIDE = ["", "+", "=", "-"];
const PASS = { type: "none" };

function toMajiang(tile) {
  const red = SUITED_RED.exec(tile);
  if (red) return red[1] + "0";
  const honour = HONOURS.indexOf(tile);
  return honour >= 0 ? "z" + (honour + 1) : tile[1] + tile[0];
}

function toMjai(suit, digit) {
  if (suit === "z") return HONOURS[digit - 1];
  return digit === "0" ? "5" + suit + "r" : digit + suit;
}

// "p340-6" -> tiles; a digit followed by a side mark is the claimed tile.
function splitMeld(meld) {
  const own = meld.match(/\d(?![+=-])/g) || [];
  const claimed = meld.match(/\d(?=[+=-])/) || [];
  return {
    consumed: own.map((digit) => toMjai(meld[0], digit)),
    claimed: claimed.length ? toMjai(meld[0], claimed[0]) : null,
  };
}

function without(tiles, gone) {
  const left = tiles.slice();
  for (const tile of gone) {
    const place = left.indexOf(tile);
    if (place >= 0) left.splice(place, 1);
  }
  return left;
}

const sorted = (tiles) => [...tiles].sort().join(" ");
const modulo4 = (number) => ((number % 4) + 4) % 4;

// Tenhou's ranked rules, where they differ from the AI's defaults.
const RULES = { "ダブル役満あり": false };

class Translator {
  // core, AiPlayer: the two npm packages; warn(text) takes one line for the user.
  constructor(core, AiPlayer, warn) {
    this.core = core;
    this.AiPlayer = AiPlayer;
    this.warn = warn;
  }

  // Returns the one answer that the table is owed for `event`.
  respond(event) {
    if (event.type === "start_game") return this.startGame(event);
    if (event.scores) this.scores = event.scores;
    if (event.type === "start_kyoku") this.broken = false;
    if (this.broken) return this.safeAnswer(event);
    try {
      return this.inform(event);
    } catch (problem) {
      this.broken = true; // until the next deal, which resets the AI's board
      this.warn(`the AI failed on ${JSON.stringify(event)}: ${problem}; plays safe until the next deal`);
      return this.safeAnswer(event);
    }
  }

  inform(event) {
    switch (event.type) {
      case "start_kyoku": return this.deal(event);
      case "tsumo": return this.draw(event);
      case "dahai": return this.discard(event);
      case "chi":
      case "pon":
      case "daiminkan": return this.call(event);
      case "ankan":
      case "kakan": return this.ownKan(event);
      case "reach": return this.riichi(event);
      case "dora": this.ask({ kaigang: { baopai: toMajiang(event.dora_marker) } }); return PASS;
      default: return PASS; // results: the next deal carries the scores
    }
  }

  startGame(event) {
    this.seat = event.id;
    this.names = event.names || ["0", "1", "2", "3"];
    this.scores = [25000, 25000, 25000, 25000];
    this.ai = null; // the first dealer is known only at the first deal
    return PASS;
  }

  deal(event) {
    const round = event.kyoku - 1;
    const winds = [0, 1, 2, 3].map((wind) => modulo4(event.oya + wind)); // seats by wind
    if (!this.ai) {
      this.firstDealer = modulo4(event.oya - round);
      this.ai = new this.AiPlayer();
      this.ask({ kaiju: {
        id: this.seat, rule: this.core.rule(RULES), title: "", player: this.names,
        qijia: this.firstDealer,
      } });
    }
    this.dealer = event.oya;
    this.pons = [[], [], [], []];
    this.hand = event.tehais[this.seat].slice();
    this.drawn = null;
    this.riichiSeat = null; // who has declared and not yet discarded
    this.afterKan = false;
    this.planned = null; // our discard that follows our riichi
    this.ask({ qipai: {
      zhuangfeng: "ESWN".indexOf(event.bakaze), jushu: modulo4(event.oya - this.firstDealer),
      changbang: event.honba, lizhibang: event.kyotaku,
      defen: winds.map((seat) => this.scores[seat]),
      baopai: toMajiang(event.dora_marker),
      shoupai: winds.map((seat) => (seat === this.seat ? this.hand.map(toMajiang).join("") : "")),
    } });
    return PASS;
  }

  draw(event) {
    const mine = event.actor === this.seat;
    if (mine) {
      this.hand.push(event.pai);
      this.drawn = event.pai;
    }
    const draw = { l: this.wind(event.actor), p: mine ? toMajiang(event.pai) : "" };
    // Anyone's draw after a kan must be told apart, or the AI miscounts kans.
    const answer = this.ask(this.afterKan ? { gangzimo: draw } : { zimo: draw });
    this.afterKan = false;
    return mine ? this.turn(event, answer) : PASS;
  }

  turn(event, answer) {
    const reply = this.turnReply(event, answer);
    if (reply.type === "dahai" || this.offered(reply, event)) return reply;
    this.warn(`the AI wants ${JSON.stringify(reply)}, which the table does not offer; discards instead`);
    this.planned = null;
    return this.safeAnswer(event);
  }

  turnReply(event, answer) {
    const actor = this.seat;
    this.planned = null;
    if (answer.hule) return { type: "hora", actor, target: actor, pai: event.pai };
    if (answer.daopai) return { type: "ryukyoku", actor, reason: NINE_TERMINALS };
    if (answer.gang) return this.kanReply(answer.gang);
    if (!answer.dapai.endsWith("*")) return this.discardReply(answer.dapai);
    this.planned = answer.dapai; // mjai declares first and discards when the riichi comes back
    return { type: "reach", actor };
  }

  kanReply(meld) {
    const actor = this.seat;
    const { consumed, claimed } = splitMeld(meld);
    if (claimed === null) return { type: "ankan", actor, consumed };
    const pai = consumed.pop();
    return { type: "kakan", actor, pai, consumed: [...consumed, claimed] };
  }

  discardReply(answer) {
    const pai = toMjai(answer[0], answer[1]);
    const others = this.drawn === null ? this.hand : without(this.hand, [this.drawn]);
    // The AI may name a drawn plain five beside a red one as if it came from the hand.
    const tsumogiri = this.drawn === pai && (answer[2] === "_" || !others.includes(pai));
    return { type: "dahai", actor: this.seat, pai, tsumogiri };
  }

  discard(event) {
    const declares = this.riichiSeat === event.actor;
    this.riichiSeat = null;
    if (event.actor === this.seat) {
      this.hand = without(this.hand, [event.pai]);
      this.drawn = null;
    }
    const tile = toMajiang(event.pai) + (event.tsumogiri ? "_" : "") + (declares ? "*" : "");
    const answer = this.ask({ dapai: { l: this.wind(event.actor), p: tile } });
    return event.actor === this.seat ? PASS : this.claim(event, answer);
  }

  claim(event, answer) {
    const { actor: target, pai } = event;
    let reply = PASS;
    if (answer.hule) reply = { type: "hora", actor: this.seat, target, pai };
    else if (answer.fulou) reply = this.callReply(answer.fulou, target, pai);
    if (reply === PASS || this.offered(reply, event)) return reply;
    this.warn(`the AI wants ${JSON.stringify(reply)}, which the table does not offer; passes`);
    return PASS;
  }

  callReply(meld, target, pai) {
    const { consumed } = splitMeld(meld);
    const [first, second] = meld.replace(/0/g, "5").match(/\d/g);
    const type = consumed.length === 3 ? "daiminkan" : first === second ? "pon" : "chi";
    return { type, actor: this.seat, target, pai, consumed };
  }

  call(event) {
    const mine = event.actor === this.seat;
    const meld = this.calledMeld(event);
    if (event.type === "pon") this.pons[event.actor].push(meld);
    if (event.type === "daiminkan") this.afterKan = true;
    if (mine) this.hand = without(this.hand, event.consumed);
    const answer = this.ask({ fulou: { l: this.wind(event.actor), m: meld } });
    return mine && event.type !== "daiminkan" ? this.forcedDiscard(event, answer.dapai) : PASS;
  }

  calledMeld(event) {
    const claimed = toMajiang(event.pai);
    const marked = claimed[1] + SIDE[modulo4(event.target - event.actor)];
    const own = event.consumed.map((tile) => toMajiang(tile)[1]).sort().reverse().join("");
    const text = claimed[0] + (event.type === "chi" ? marked + own : own + marked);
    return this.core.Shoupai.valid_mianzi(text);
  }

  ownKan(event) {
    const tiles = event.consumed.map(toMajiang);
    let meld = tiles[0][0] + tiles.map((tile) => tile[1]).join("");
    if (event.type === "ankan") {
      meld = this.core.Shoupai.valid_mianzi(meld);
    } else {
      const added = toMajiang(event.pai);
      // The AI's board knows the pon by its very spelling, red five and side included.
      const same = (pon) => pon.replace(/0/g, "5").slice(0, 2) === added.replace("0", "5");
      const pon = this.pons[event.actor].find(same);
      if (!pon) throw new Error("no pon to add to");
      meld = pon + added[1];
    }
    this.afterKan = true;
    if (event.actor === this.seat) {
      this.hand = without(this.hand, event.type === "ankan" ? event.consumed : [event.pai]);
      this.drawn = null;
    }
    const answer = this.ask({ gang: { l: this.wind(event.actor), m: meld } });
    return event.type === "kakan" && event.actor !== this.seat ? this.claim(event, answer) : PASS;
  }

  riichi(event) {
    this.riichiSeat = event.actor;
    return event.actor === this.seat ? this.forcedDiscard(event, this.planned) : PASS;
  }

  forcedDiscard(event, answer) {
    const reply = answer ? this.discardReply(answer) : null;
    const barred = event.cannot_dahai || [];
    const fits = reply && this.hand.includes(reply.pai) && !barred.includes(reply.pai);
    return fits ? reply : this.safeAnswer(event);
  }

  // What is legal at any table: the drawn tile, any tile that is not barred, or to pass.
  safeAnswer(event) {
    const actor = this.seat;
    if (event.actor !== actor) return PASS;
    if (event.type === "tsumo") return { type: "dahai", actor, pai: event.pai, tsumogiri: true };
    if (!["chi", "pon", "reach"].includes(event.type)) return PASS;
    const barred = event.cannot_dahai || [];
    const pai = [...this.hand].reverse().find((tile) => !barred.includes(tile));
    return { type: "dahai", actor, pai, tsumogiri: event.type === "reach" && pai === this.drawn };
  }

  // Servers that send possible_actions accept nothing else; others offer what the rules allow.
  offered(reply, event) {
    if (!event.possible_actions) return true;
    return event.possible_actions.some((offer) => offer.type === reply.type
      && (!offer.consumed || sorted(offer.consumed) === sorted(reply.consumed)));
  }

  wind(seat) {
    return modulo4(seat - this.dealer);
  }

  ask(message) {
    let reply = null;
    this.ai.action(message, (answer) => { reply = answer; });
    return reply || {};
  }
}

module.exports = { Translator, toMajiang, toMjai, splitMeld };

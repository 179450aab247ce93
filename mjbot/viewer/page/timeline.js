// The moments of a game in the order received: a board per kyoku, and the changes after it.

export class Timeline {
  constructor() {
    this.names = [];
    this.pairs = {};
    this.kyoku = [];
    this.at = null; // the last board that was made, and its place
  }

  add(message) {
    if (message.type === "game") {
      this.names = message.names;
      this.pairs = message.pairs;
    } else if (message.type === "kyoku") {
      this.kyoku.push({ n: message.n, board: message.board, title: message.title, steps: [] });
    } else if (message.type === "step" && this.kyoku.length) {
      this.kyoku[this.kyoku.length - 1].steps.push(message);
    }
  }

  get end() {
    const kyoku = this.kyoku.length - 1;
    return [kyoku, kyoku < 0 ? 0 : this.kyoku[kyoku].steps.length];
  }

  step(kyoku, step) {
    return step ? this.kyoku[kyoku].steps[step - 1] : null;
  }

  board(kyoku, step) {
    const { board: first, steps } = this.kyoku[kyoku];
    const on = this.at && this.at.kyoku === kyoku && this.at.step <= step;
    let board = on ? this.at.board : first;
    for (let done = on ? this.at.step : 0; done < step; done++) {
      board = changed(board, steps[done].change);
    }
    this.at = { kyoku, step, board };
    return board;
  }

  // The nearest place after (or before) whose step is wished for; the end (or the start) if none.
  find(kyoku, step, way, isWished) {
    let [k, s] = [kyoku, step + way];
    for (; k >= 0 && k < this.kyoku.length; k += way) {
      const steps = this.kyoku[k].steps;
      if (s === null) s = way > 0 ? 0 : steps.length;
      for (; s >= 0 && s <= steps.length; s += way) {
        const message = this.step(k, s);
        if (message && isWished(message)) return [k, s];
      }
      s = null;
    }
    return way > 0 ? this.end : [0, 0];
  }
}

// What mjbot.viewer.drawing.board_data.changed does: the new board shares with the old one what is the same.
export function changed(board, change) {
  const isPlain = (value) => value !== null && typeof value === "object";
  if (!isPlain(change) || Array.isArray(change) || !isPlain(board)) return change;
  const after = Array.isArray(board) ? board.slice() : { ...board };
  for (const key of Object.keys(change)) {
    after[key] = key in after ? changed(after[key], change[key]) : change[key];
  }
  return after;
}

// A person's seat: what may be chosen, and how long there is to choose.

import { html, tiles } from "/page/panel.js";
import { say } from "/page/source.js";
import { t } from "/page/text.js";

const NAMES = {
  discard: "Discard", riichi: "Riichi", tsumo: "Win", ron: "Win", pass: "Pass", pon: "Pon",
  chi: "Chi", daiminkan: "Kan", ankan: "Kan", kakan: "Kan", kita: "Kita", "nine terminals": "Abort: nine terminals",
};

// Offers one question at a time in a place of the page, and on the tiles of the own hand.
export class Asker {
  constructor(place, problem) {
    this.place = place;
    this.problem = problem;
    this.question = null;
    this.timer = 0;
  }

  take(message) {
    if (message.type === "ask") this.question = message;
    else if (this.question && message.id >= this.question.id) this.question = null;
  }

  clear() {
    this.question = null;
  }

  show() {
    clearInterval(this.timer);
    this.place.hidden = !this.question;
    if (!this.question) return this.place.replaceChildren();
    const { actions, until, clock } = this.question;
    const button = (action, kind, ...inside) => {
      const made = html("button", { class: kind, "data-code": action.code, title: action.text }, ...inside);
      if (action.tiles) made.append(tiles(action.tiles));
      made.addEventListener("click", () => this.choose(action.code));
      return made;
    };
    const isDiscard = ({ name }) => name === "discard";
    const discards = actions.filter(isDiscard).map((action) => button(action, "tile"));
    const buttons = actions.filter((action) => !isDiscard(action)).map((action) => button(action, "act", t(NAMES[action.name]), " "));
    if (discards.length) {
      buttons.push(html("span", {}, buttons.length ? t("or discard a tile") : t("discard a tile of your hand")));
      buttons.push(html("span", { class: "discards" }, ...discards));
    }
    const left = html("progress", { max: clock, "aria-label": t("time left") });
    const tick = () => (left.value = Math.max(0, (until - Date.now()) / 1000));
    tick();
    this.timer = setInterval(tick, 250);
    this.place.replaceChildren(...buttons, left);
  }

  // Makes the tiles of the own hand choose themselves.
  offerHand(hand) {
    for (const tile of hand.querySelectorAll(".mine")) {
      tile.classList.remove("mine");
      tile.removeAttribute("tabindex");
      tile.onclick = tile.onkeydown = null;
    }
    if (!this.question) return;
    for (const tile of hand.querySelectorAll(".own")) {
      const isDrawn = tile.classList.contains("new");
      const fits = this.question.actions.filter((action) => action.name === "discard" && action.tiles === tile.dataset.tile);
      const action = fits.find(({ drawn }) => drawn === isDrawn) || fits[0];
      if (!action) continue;
      tile.classList.add("mine");
      tile.setAttribute("tabindex", "0");
      tile.dataset.code = action.code;
      tile.onclick = () => this.choose(action.code);
      tile.onkeydown = (event) => {
        if (event.key === "Enter" || event.key === " ") this.choose(action.code);
      };
    }
  }

  // Takes the key of a choice: 1 to 9 the buttons; true if it was one.
  key(key) {
    const button = this.question && this.place.querySelectorAll(".act")[Number(key) - 1];
    if (button) button.click();
    return Boolean(button);
  }

  async choose(code) {
    if (!this.question) return;
    const { id } = this.question;
    this.question = null;
    this.show();
    try {
      await say("/api/act", { id, code });
      this.problem("");
    } catch (refusal) {
      this.problem(refusal.message);
    }
  }
}

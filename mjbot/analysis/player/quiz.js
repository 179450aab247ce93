const score = document.getElementById("score");
const texts = score.dataset;
const exercises = [...document.querySelectorAll(".exercise")];
let place = 0;
let right = 0;
let answered = 0;

function show(next) {
  place = Math.min(Math.max(next, 0), exercises.length - 1);
  exercises.forEach((each, number) => { each.hidden = number !== place; });
  const values = { place: place + 1, all: exercises.length, right, answered };
  score.textContent = texts.score.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function answer(button) {
  const exercise = button.closest(".exercise");
  const solution = exercise.querySelector(".solution");
  if (!solution.hidden) return;
  const isRight = button.dataset.answer === "better";
  const isEqual = button.dataset.answer === "equal";
  answered += 1;
  right += isRight || isEqual;
  for (const each of exercise.querySelectorAll(".answers button")) {
    if (each.dataset.answer === "better") each.classList.add("right");
  }
  if (!isRight) button.classList.add(isEqual ? "equal" : "wrong");
  const verdict = [isRight ? texts.right : isEqual ? texts.equal : texts.wrong];
  if ("done" in button.dataset) verdict.push(texts.done);
  exercise.querySelector(".verdict").textContent = verdict.join(" ");
  solution.hidden = false;
  show(place);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.id === "next") show(place + 1);
  else if (button.id === "before") show(place - 1);
  else answer(button);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const buttons = exercises[place].querySelectorAll(".answers button");
  if (event.key >= "1" && event.key <= "9") {
    const button = buttons[Number(event.key) - 1];
    if (button) answer(button);
  } else if (event.key === "ArrowRight" || (event.key === "Enter" && event.target === document.body)) {
    show(place + 1);
  } else if (event.key === "ArrowLeft") show(place - 1);
});

if (exercises.length) show(0);

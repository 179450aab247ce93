// Texts in the language of the page: its catalogue has those that are not English.

const texts = JSON.parse(document.getElementById("config").textContent).texts || {};

// A text with its placeholders, such as {n}, filled in.
export function t(text, values = {}) {
  const found = Object.hasOwn(texts, text) ? texts[text] : text;
  return found.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

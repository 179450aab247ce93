// Where a game comes from: this very file, a record that the server reads, or a running table.

const key = new URLSearchParams(location.search).get("key") || "";

export function address(path, query = {}) {
  const all = new URLSearchParams({ ...(key && { key }), ...query });
  return `${path}?${all}`;
}

// The JSON that was packed into this file.
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return byRow(await new Response(stream).json());
}

// Undoes by_column of mjbot/viewer/pages.py: fields that lie together are put back into their objects.
function byRow(value) {
  if (Array.isArray(value)) return value.map(byRow);
  if (value === null || typeof value !== "object") return value;
  if ("$lists" in value) {
    const flat = byRow(value.$of);
    let end = 0;
    return value.$lists.map((length) => flat.slice(end, (end += length)));
  }
  const { $rows: rows, ...fields } = value;
  const columns = Object.entries(fields).map(([key, each]) => [key, byRow(each)]);
  if (rows === undefined) return Object.fromEntries(columns);
  const row = (n) => columns.filter(([, column]) => column[n]?.$ !== 0).map(([key, column]) => [key, column[n]]);
  return Array.from({ length: rows }, (_, n) => Object.fromEntries(row(n)));
}

// Emits the lines of a record one after the other; throws its errors.
export async function readRecord(record, game, emit) {
  const answer = await fetch(address("/api/game", { record, game }));
  if (!answer.ok) throw new Error(await answer.text());
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    emit(lines.map((line) => JSON.parse(line)));
  }
}

// Follows a running table; the browser connects again by itself, and goes on where it was.
export function follow(emit, connected) {
  const events = new EventSource(address("/api/live"));
  events.onopen = () => connected(true);
  events.onerror = () => connected(false);
  events.onmessage = (message) => emit(JSON.parse(message.data));
  return events;
}

export async function fetchJson(path, query) {
  const answer = await fetch(address(path, query));
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export async function say(path, body) {
  const answer = await fetch(address(path), {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

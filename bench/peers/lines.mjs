// What every JavaScript adapter shares: JSON lines in, JSON lines out, UTF-16 offsets turned into code points.

import { createInterface } from 'node:readline';

/** `detect` gives [start, end, the peer's type]; a type that `kinds` does not know keeps its own name. */
export async function serve(detect, kinds) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, text } = JSON.parse(line);
    const spans = [];
    for (const [start, end, kind] of await detect(text)) {
      spans.push({ start: points(text, start), end: points(text, end), type: kinds[kind] ?? kind.toUpperCase() });
    }
    process.stdout.write(JSON.stringify({ id, spans }) + '\n');
  }
}

function points(text, offset) {
  return [...text.slice(0, offset)].length;
}

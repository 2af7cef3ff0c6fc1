// compromise: people, phone numbers, e-mail addresses and places of its tagger.

import { createRequire } from 'node:module';
import { serve } from './lines.mjs';

const nlp = createRequire(process.env.PEER_MODULES + '/')('compromise');

function detect(text) {
  const found = nlp(text);
  const groups = [
    [found.people(), 'NAME'], [found.phoneNumbers(), 'PHONE'], [found.emails(), 'EMAIL'], [found.places(), 'LOCATION'],
  ];
  return groups.flatMap(([views, kind]) =>
    views.json({ offset: true }).map(({ offset }) => trimmed(text, offset.start, offset.start + offset.length, kind)),
  );
}

/** A match may carry the punctuation around it. */
function trimmed(text, start, end, kind) {
  while (start < end && /[\s"'(,.:;]/.test(text[start])) start += 1;
  while (end > start && /[\s"'),.:;?!]/.test(text[end - 1])) end -= 1;
  return [start, end, kind];
}

serve(detect, {});

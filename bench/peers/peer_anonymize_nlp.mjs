// anonymize-nlp. It rewrites text and remembers what it replaced: each remembered string is looked up again.

import { createRequire } from 'node:module';
import { serve } from './lines.mjs';

const { AnonymizeNlp } = createRequire(process.env.PEER_MODULES + '/')('anonymize-nlp');
const KINDS = {
  firstname: 'NAME', lastname: 'NAME', phonenumber: 'PHONE', ssn: 'SSN', us_social_security: 'SSN', zip_code: 'LOCATION',
};

function detect(text) {
  const peer = new AnonymizeNlp();
  peer.anonymize(text);
  const spans = Object.entries(peer.maskMaps).flatMap(([kind, found]) =>
    [...found.keys()].flatMap((value) => places(text, value).map((at) => [at, at + value.length, kind])),
  );
  return joined(text, spans.sort((one, other) => one[0] - other[0] || other[1] - one[1]));
}

function places(text, value) {
  const found = [];
  for (let at = text.indexOf(value); value && at >= 0; at = text.indexOf(value, at + value.length)) {
    const isInsideWord = /\w/.test(text[at - 1] ?? ' ') || /\w/.test(text[at + value.length] ?? ' ');
    if (!isInsideWord) found.push(at);
  }
  return found;
}

/** A first and a last name beside each other are one name. */
function joined(text, spans) {
  const result = [];
  for (const [start, end, kind] of spans) {
    const last = result.at(-1);
    const isSameName = last && KINDS[kind] === 'NAME' && KINDS[last[2]] === 'NAME' && /^\s*$/.test(text.slice(last[1], start));
    if (isSameName) last[1] = Math.max(last[1], end);
    else result.push([start, end, kind]);
  }
  return result;
}

serve(detect, KINDS);

// redact-pii. It only rewrites text, so each rule is told to write marks around what it found instead.

import { createRequire } from 'node:module';
import { serve } from './lines.mjs';

const { SyncRedactor } = createRequire(process.env.PEER_MODULES + '/')('redact-pii');
const RULES = [
  'creditCardNumber', 'streetAddress', 'zipcode', 'phoneNumber', 'ipAddress', 'usSocialSecurityNumber',
  'emailAddress', 'username', 'password', 'credentials', 'digits', 'url', 'names',
];
const KINDS = {
  names: 'NAME', phoneNumber: 'PHONE', emailAddress: 'EMAIL', usSocialSecurityNumber: 'SSN',
  streetAddress: 'ADDRESS', zipcode: 'LOCATION',
};
const redactors = RULES.map((rule) => {
  const builtInRedactors = Object.fromEntries(RULES.map((name) => [name, { enabled: name === rule }]));
  return [rule, new SyncRedactor({ builtInRedactors, globalReplaceWith: '\uE001$&\uE002' })];
});

// One rule after the other, in the order of the package. What a rule found is hidden from the next
// ones by private characters, one for each character, so that offsets stay.
function detect(text) {
  const spans = [];
  let left = text;
  for (const [rule, redactor] of redactors) {
    for (const [start, end] of marked(left, redactor.redact(left))) {
      spans.push([start, end, rule]);
      left = left.slice(0, start) + '\uE000'.repeat(end - start) + left.slice(end);
    }
  }
  return spans;
}

/** The parts of `before` that stand between marks in `after`. */
function marked(before, after) {
  const pieces = after.split(/\uE001([^\uE001\uE002]*)\uE002/);
  const spans = [];
  let at = 0;
  for (let index = 1; index < pieces.length; index += 2) {
    let [plain, found] = [pieces[index - 1], pieces[index]];
    at += plain.length;
    // After a greeting the package writes the mark as it is: the name runs on to the next plain words.
    if (found === '$&') found = before.slice(at, nextPlain(before, pieces[index + 1], at + 1));
    // Before a known name it writes the blanks twice.
    const blanks = found.match(/^\s*/)[0];
    if (blanks && plain.endsWith(blanks)) at -= blanks.length;
    if (found.trim()) spans.push([at + blanks.length, at + found.length]);
    at += found.length;
  }
  return spans;
}

function nextPlain(before, plain, from) {
  const at = plain ? before.indexOf(plain.slice(0, 9), from) : -1;
  return at < 0 ? before.length : at;
}

serve(detect, KINDS);

// @redactpii/node. It only rewrites text, so its patterns are read from the object and run one by one.

import { createRequire } from 'node:module';
import { serve } from './lines.mjs';

const { Redactor } = createRequire(process.env.PEER_MODULES + '/')('@redactpii/node');
const KINDS = { PERSON_NAME: 'NAME', PHONE_NUMBER: 'PHONE', EMAIL_ADDRESS: 'EMAIL', US_SOCIAL_SECURITY_NUMBER: 'SSN' };
const rules = new Redactor().activeRules;

function detect(text) {
  return rules.flatMap(({ pattern, name }) => [...text.matchAll(pattern)].map((match) => place(match, name)));
}

/** Where a pattern has a group, the group is what counts: the greeting before a name is not the name. */
function place(match, name) {
  const value = name === 'PERSON_NAME' ? match.at(-1) : match[0];
  const start = match.index + match[0].lastIndexOf(value);
  return [start, start + value.length, name];
}

serve(detect, KINDS);

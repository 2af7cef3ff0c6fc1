// openredaction, with its default patterns or, with the argument "hipaa", its HIPAA preset.

import { createRequire } from 'node:module';
import { serve } from './lines.mjs';

const { OpenRedaction } = createRequire(process.env.PEER_MODULES + '/')('openredaction');
const KINDS = {
  DATE_OF_BIRTH: 'DOB', PHONE_US: 'PHONE', PHONE_UK: 'PHONE', PHONE_UK_MOBILE: 'PHONE', PHONE_INTERNATIONAL: 'PHONE',
  ADDRESS_STREET: 'ADDRESS', ADDRESS_PO_BOX: 'ADDRESS', MEDICAL_RECORD_NUMBER: 'MRN', PATIENT_ID: 'MRN', ZIP_CODE_US: 'LOCATION',
};
const peer = new OpenRedaction(process.argv[2] === 'hipaa' ? { preset: 'hipaa' } : {});

async function detect(text) {
  const { detections } = await peer.detect(text);
  return detections.map(({ position, type }) => [position[0], position[1], type]);
}

serve(detect, KINDS);

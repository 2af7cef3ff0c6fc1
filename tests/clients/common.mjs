// What the JavaScript clients share: arguments, results, and what is asked.
export const [baseURL, apiKey, model, mode] = process.argv.slice(2);
export const SSN = "536-22-8741";
export const WITH_PHI = `The patient's SSN is ${SSN}. Please confirm.`;
export const CLEAN = "Say hello to the ward.";

export function assert(condition, detail) {
  if (!condition) throw new Error(`not as expected: ${JSON.stringify(detail)?.slice(0, 400)}`);
}

/** Runs the tests of the mode in force, in order, and prints one line each. */
export async function runAll(plans) {
  let failures = 0;
  for (const test of plans[mode]) {
    const result = { test: test.name, ok: true, detail: "" };
    try {
      await test();
    } catch (reason) {
      failures += 1;
      Object.assign(result, { ok: false, detail: String(reason).slice(0, 400) });
    }
    console.log(JSON.stringify(result));
  }
  process.exit(failures ? 1 : 0);
}

/** The error that the function throws. */
export async function thrown(run) {
  try {
    await run();
  } catch (reason) {
    return reason;
  }
  throw new Error("nothing was thrown");
}

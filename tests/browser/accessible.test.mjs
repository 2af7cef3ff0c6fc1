// Every page, light and dark: no serious finding of axe-core, and no page wider than a phone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { NOTE, signIn, startBrowser, startReadyServer } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server, browser, note;
before(async () => {
  server = await startReadyServer();
  browser = await startBrowser();
  await server.command(["mode", "set", "mask"]);
  note = await server.ask(NOTE);
  await server.ask("What is the usual dose of amoxicillin?");
});
after(async () => { await browser?.close(); await server?.stop(); });

const pages = () => [
  "/", "/?period=month", "/?period=week&show=phi", "/audit", "/audit/administration", "/audit/find", "/audit/integrity", "/audit?action=blocked",
  `/audit/${note.id}`, "/playground", "/settings", "/settings/policy", "/settings/policy?add_group=wards", "/settings/allow", "/settings/recognizers", "/settings/rosters", "/settings/replies", "/settings/detection", "/settings/retention", "/settings/limits",
  "/settings/sign-in", "/providers", "/keys", "/users", "/help", "/account",
];

async function check(page, place) {
  // Playwright runs this outside the page's content policy, which blocks foreign scripts.
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
  assert.ok(passes.length > 10, `axe looked at ${place}`);
  const serious = violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
  const told = serious.map((violation) => `${violation.id}: ${violation.nodes[0].html} ${violation.nodes[0].failureSummary}`);
  assert.deepEqual(told, [], place);
}

for (const colorScheme of ["light", "dark"]) {
  test(`no serious violation on any page, ${colorScheme}`, async () => {
    const page = await browser.open({ colorScheme });
    await page.goto(`${server.url}/login`);
    await check(page, "/login");
    await signIn(page, server);
    for (const path of pages()) {
      await page.goto(server.url + path);
      await check(page, path);
    }
    await page.goto(`${server.url}/audit/${note.id}`);
    await page.getByLabel("Reason").fill("Checking the page");
    await page.getByRole("button", { name: "Reveal" }).click();
    await page.getByText("Content, revealed").waitFor();
    await check(page, "reveal");
    await page.goto(`${server.url}/playground`);
    await page.getByLabel("Text", { exact: true }).fill(NOTE);
    await page.locator("mark").first().waitFor();
    await check(page, "playground with findings");
    await page.goto(`${server.url}/settings`);
    await page.getByRole("radio", { name: /^Flag/ }).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "This weakens protection" }).waitFor();
    await check(page, "the question about weakening");
    await page.goto(`${server.url}/settings/policy`);
    await page.getByLabel("Name, Account").selectOption({ label: "Flag" });
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("heading", { name: "To be saved" }).waitFor();
    await check(page, "the preview of a policy");
    await page.goto(`${server.url}/keys`);
    await page.getByText("Revoke", { exact: true }).first().click();
    await check(page, "a question over the page");
  });
}

test("no page is wider than a phone", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, server);
  for (const path of pages()) {
    await page.goto(server.url + path);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${path} is ${over} pixels too wide`);
  }
});

// What an auditor does: filter, look at a record, reveal with a reason, export, verify.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { AUDITOR, NOTE, signIn, startBrowser, startReadyServer } from "./support.mjs";

const HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>";
let server, browser, note, clean, hostile;
before(async () => {
  server = await startReadyServer();
  browser = await startBrowser();
  await server.command(["mode", "set", "mask"]);
  note = await server.ask(NOTE);
  clean = await server.ask("What is the usual dose of amoxicillin?");
  hostile = await server.ask(`${HOSTILE} SSN 536-22-8741`);
  assert.deepEqual([note.status, clean.status, hostile.status], [200, 200, 200]);
});
after(async () => { await browser?.close(); await server?.stop(); });

test("the log is filtered by type and by request", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  assert.equal(await page.locator("tbody tr").count(), 3);
  await page.getByLabel("PHI type").selectOption("name");
  await page.waitForURL(/type=name/);
  assert.equal(await page.locator("tbody tr").count(), 1);
  await page.goto(`${server.url}/audit?request=${clean.id}`);
  assert.equal(await page.locator("tbody tr").count(), 1);
  await page.goto(`${server.url}/audit?action=blocked`);
  await page.getByText("No record matches").waitFor();
  await page.goto(`${server.url}/audit?request=nonsense`);
  await page.getByText("A request id looks like").waitFor();
  assert.equal(await page.locator("tbody tr").count(), 0);
});

test("exact times are typed in the viewer's zone and sent in UTC", async () => {
  const page = await browser.open({ timezoneId: "America/New_York" });
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  await page.getByText("Exact times").click();
  await page.getByLabel("From").fill("2026-01-31T08:00");
  await page.getByLabel("Until").fill("2099-07-01T08:00");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/since=2026-01-31T13%3A00%3A00&until=2099-07-01T12%3A00%3A00/);
  assert.match(await page.getByLabel("From").inputValue(), /^2026-01-31T08:00/);
  assert.ok(await page.locator("tbody tr").count() >= 3);
});

test("what was asked for is in sight when the page comes back", async () => {
  const page = await browser.open({ viewport: { width: 1280, height: 500 } });
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  await page.getByLabel("Value").fill("536-22-8741");
  await page.getByRole("button", { name: "Find" }).click();
  await page.getByText("Found in").waitFor();
  assert.ok(await inSight(page.getByText("Found in")));
  await page.goto(`${server.url}/audit/${note.id}`);
  await page.getByLabel("Reason").fill("no");
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.getByRole("alert").waitFor();
  assert.ok(await inSight(page.getByRole("alert")));
  await page.getByLabel("Reason").fill("Incident 4711");
  await page.getByRole("button", { name: "Reveal" }).click();
  assert.ok(await inSight(page.getByText("Content, revealed")));
});

async function inSight(place) {
  const box = await place.boundingBox();
  return box.y >= 0 && box.y < 500;
}

test("new requests appear by themselves", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit?model=gpt-4o`);
  const before = await page.locator("tbody tr").count();
  await server.ask("Another question.");
  await page.locator("tbody tr").nth(before).waitFor();
});

test("content is revealed with a reason, and the reveal is recorded", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit/${note.id}`);
  await page.getByText("Content is sealed").waitFor();
  assert.ok(!(await page.content()).includes("536-22-8741"), "sealed content is not on the page");
  await page.getByLabel("Reason").fill("Incident 4711");
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.getByText("Content, revealed").waitFor();
  const [original, sent] = await page.locator(".beside").first().locator(".sheet").allTextContents();
  assert.equal(original, NOTE);
  assert.ok(sent.includes("[SSN]") && !sent.includes("536-22-8741"));
  assert.ok(await page.locator("mark", { hasText: "536-22-8741" }).count() > 0, "what differs is highlighted");
  await page.getByRole("heading", { name: "Who looked" }).waitFor();
  await page.goto(`${server.url}/audit?record=admin`);
  const row = page.getByRole("row", { name: /Content revealed/ }).first();
  assert.ok((await row.textContent()).includes("Incident 4711"));
  assert.ok((await row.textContent()).includes(AUDITOR));
});

test("content from outside is shown as text, never as markup", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit/${hostile.id}`);
  await page.getByLabel("Reason").fill("Looking at an attack");
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.getByText("Content, revealed").waitFor();
  assert.ok((await page.locator(".sheet").first().textContent()).startsWith(HOSTILE));
  assert.equal(await page.locator("main img, main script").count(), 0);
});

test("a reveal without a reason is refused", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit/${note.id}`);
  await page.evaluate(() => document.querySelectorAll("form").forEach((form) => form.setAttribute("novalidate", "")));
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.getByText("Say why you need to see this").waitFor();
  assert.ok(!(await page.content()).includes("536-22-8741"));
});

test("the log is exported without content, as lines and as a table", async () => {
  const page = await browser.open({ acceptDownloads: true });
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  for (const [button, ending] of [["Export JSONL", "jsonl"], ["Export CSV", "csv"]]) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).click(),
    ]);
    assert.ok(download.suggestedFilename().endsWith(ending));
    const text = readFileSync(await download.path(), "utf8");
    assert.ok(text.includes(note.id));
    assert.ok(!text.includes("536-22-8741"));
  }
});

test("the chain is verified, and an identifier is looked up", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  await page.getByRole("button", { name: "Verify the whole chain now" }).click();
  await page.getByText("Chain intact").first().waitFor();
  await page.locator("#find-type").selectOption("ssn");
  await page.locator("#find-value").fill("536 22 8741");
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await page.getByText("In none of them was it forwarded").waitFor();
  assert.ok(!page.url().includes("536"), "identifiers are never in an address");
});

test("pages are not kept after signing out", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  await page.getByRole("button", { name: "Sign out" }).first().click();
  await page.getByText("You are signed out").waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("everything but live parts works without script", async () => {
  const page = await browser.open({ javaScriptEnabled: false });
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  await page.getByLabel("PHI type").selectOption("name");
  await page.getByRole("button", { name: "Filter" }).click();
  assert.equal(await page.locator("tbody tr").count(), 1);
  assert.match(await page.locator("tbody time").first().textContent(), /UTC$/);
  await page.goto(`${server.url}/playground`);
  await page.getByLabel("Text", { exact: true }).fill("SSN 536-22-8741");
  await page.getByRole("button", { name: "Look for PHI" }).click();
  await page.locator("mark", { hasText: "536-22-8741" }).first().waitFor();
  await page.getByRole("button", { name: "Dark" }).first().click();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});

test("wrong passwords are slowed down", async () => {
  const page = await browser.open();
  // The wait doubles, so it outgrows the time that a slow machine takes for an attempt.
  for (let attempt = 0; attempt < 14; attempt += 1) {
    await page.goto(`${server.url}/login`);
    await page.getByLabel("E-mail").fill("nobody@clinic.example");
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    const notice = await page.locator(".notice.bad").textContent();
    if (notice.includes("Too many failed attempts")) return;
    assert.match(notice, /Wrong e-mail or password/);
  }
  assert.fail("fourteen wrong passwords in a row were looked at");
});

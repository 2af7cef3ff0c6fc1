// An auditor's pages: filter, record, reveal with a reason, export, verify.
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
  await page.getByText("More filters").click();
  await page.getByLabel("From").fill("2026-01-31T08:00");
  await page.getByLabel("Until").fill("2099-07-01T08:00");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/since=2026-01-31T13%3A00%3A00&until=2099-07-01T12%3A00%3A00/);
  assert.match(await page.getByLabel("From").inputValue(), /^2026-01-31T08:00/);
  assert.ok(await page.locator("tbody tr").count() >= 3);
});

test("results are in view after a page load", async () => {
  const page = await browser.open({ viewport: { width: 1280, height: 500 } });
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit/find`);
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
  await page.getByRole("heading", { name: "Who has seen it" }).waitFor();
  // The address from before there were tabs.
  await page.goto(`${server.url}/audit?record=admin`);
  assert.equal(new URL(page.url()).pathname, "/audit/administration");
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

test("a reveal is one record despite reloads", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  const reveals = async () => {
    await page.goto(`${server.url}/audit/administration?act=content.reveal&person=${encodeURIComponent(AUDITOR)}`);
    return page.locator("tbody tr").count();
  };
  const before = await reveals();
  await page.goto(`${server.url}/audit/${note.id}`);
  await page.getByLabel("Reason").fill("Incident 4712");
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.getByText("Content, revealed").waitFor();
  assert.equal(new URL(page.url()).pathname, `/audit/${note.id}`, "the record's own address");
  const link = page.url();
  await page.reload();
  await page.getByText("Content, revealed").waitFor();
  const other = await browser.open();
  await signIn(other, server);
  await other.goto(link);
  await other.getByText("Content is sealed").waitFor();
  assert.ok(!(await other.content()).includes("536-22-8741"));
  await page.getByRole("link", { name: "Hide now" }).click();
  await page.getByText("Content is sealed").waitFor();
  assert.equal(await reveals(), before + 1);
});

test("form addresses redirect to their page", async () => {
  const page = await browser.open();
  await signIn(page, server);
  for (const [path, leads] of [
    [`/audit/${note.id}/reveal`, `/audit/${note.id}`], ["/audit/verify", "/audit"], ["/providers/openai/test", "/providers"],
    ["/keys/abcdefghijkl/rotate", "/keys"], ["/playground/send", "/playground"], ["/users/remove", "/users"], ["/account/totp/confirm", "/account"],
  ]) {
    const answer = await page.goto(server.url + path);
    assert.deepEqual([answer.status(), new URL(page.url()).pathname], [200, leads], path);
  }
});

test("the log is filtered by act, person, model, provider, error", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  const rows = async (path) => {
    await page.goto(server.url + path);
    return page.locator("tbody tr").count();
  };
  assert.ok(await rows("/audit/administration?act=login") > 0);
  assert.ok(await rows(`/audit/administration?person=${encodeURIComponent(AUDITOR)}`) > 0);
  assert.equal(await rows("/audit/administration?person=nobody%40clinic.example"), 0);
  assert.ok(await rows("/audit/administration?person=cli") > 0);
  const all = await rows("/audit");
  assert.match(await page.locator("section[aria-label=Requests] .card-head").textContent(), new RegExp(`${all} requests`));
  assert.equal(await rows("/audit?model=gpt"), all);
  assert.equal(await rows("/audit?model=%22gpt%22"), 0);
  assert.equal(await rows("/audit?provider=openai"), all);
  assert.equal(await rows("/audit?provider=elsewhere"), 0);
  const body = JSON.stringify({ model: "unheard-of", messages: [{ role: "user", content: "x" }] });
  await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body, headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" } });
  assert.equal(await rows("/audit?error=model_not_found"), 1);
  assert.ok((await page.locator("tbody tr").first().textContent()).includes("model not found"), "the reason is in the list");
  assert.equal(await rows("/audit?status=5xx"), 0);
  // The address contains only the filters in use.
  await page.goto(`${server.url}/audit`);
  await page.getByLabel("PHI type").selectOption("ssn");
  await page.waitForURL(/type=ssn/);
  assert.equal(new URL(page.url()).search, "?type=ssn");
});

test("the list is walked with the keyboard", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  const first = await page.locator("tbody a.cover").first().getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.url}${first}`);
  await page.goto(`${server.url}/audit`);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "range");
});

test("an export has a row per request and is recorded", async () => {
  const page = await browser.open({ acceptDownloads: true });
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit?record=phi&action=masked`);
  const shown = await page.locator("tbody tr").count();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export CSV" }).click()]);
  const [head, ...lines] = readFileSync(await download.path(), "utf8").trim().split("\r\n");
  assert.equal(lines.length, shown);
  const status = head.split(",").indexOf("status");
  assert.ok(status > 0 && lines.every((line) => /,200,/.test(line)), "every row has its status");
  await page.goto(`${server.url}/audit/administration?act=audit.export_end`);
  const row = await page.locator("tbody tr").first().textContent();
  assert.match(row, /as csv/);
  assert.match(row, /phi_detected=true action=masked/);
});

test("on a phone a request takes two lines", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/audit?action=masked`);
  const heights = await page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
  assert.ok(heights.length > 0 && heights.every((height) => height < 130), `${heights}`);
});

test("an identifier is found in every spelling", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await server.ask("Patient Wei Zhang, DOB 03/04/1961, phone 415-555-0134.");
  const look = async (type, value) => {
    await page.goto(`${server.url}/audit/find`);
    await page.locator("#find-type").selectOption(type);
    await page.locator("#find-value").fill(value);
    await page.getByRole("button", { name: "Find", exact: true }).click();
    const told = page.locator("[data-swap] [role=status], [data-swap] [role=alert]");
    await told.first().waitFor();
    return told.first().textContent();
  };
  for (const [type, value] of [
    ["dob", "3/4/1961"], ["dob", "1961-03-04"], ["dob", "March 4, 1961"], ["phone", "+1 415 555 0134"], ["phone", "4155550134"],
    ["name", "Mr. Wei Zhang"], ["name", "Zhang, Wei"],
  ]) assert.match(await look(type, value), /Found in 1 request/, `${type} ${value}`);
  assert.match(await look("ssn", "078-05-1120"), /Not found in the requests that the log still holds.*Tried/s);
  assert.doesNotMatch(await look("ssn", "123"), /found/i, "an invalid SSN is refused");
  // A reload does not search again.
  await page.reload();
  assert.equal(await page.locator("[data-swap] [role=status]").count(), 0);
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
  await page.goto(`${server.url}/audit/integrity`);
  await page.getByRole("button", { name: "Verify the whole chain now" }).click();
  await page.getByText("Chain intact").first().waitFor();
  await page.getByRole("link", { name: "Find an identifier" }).click();
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
  // The note, and the search above.
  await page.locator("tbody tr:nth-child(2):last-child").waitFor();
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
  // The wait doubles, so it exceeds the time of an attempt on a slow machine.
  for (let attempt = 0; attempt < 14; attempt += 1) {
    await page.goto(`${server.url}/login`);
    await page.getByLabel("E-mail").fill("nobody@clinic.example");
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    const notice = await page.locator(".notice.bad").textContent();
    if (notice.includes("Too many failed attempts")) return;
    assert.match(notice, /Wrong e-mail or password/);
  }
  assert.fail("fourteen wrong passwords in a row were checked");
});

// What an owner does: modes, keys, providers, users, the playground.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AUDITOR, NOTE, OWNER, PASSWORD, ask, codeOf, signIn, startBrowser, startReadyServer } from "./support.mjs";

let server, browser;
before(async () => { server = await startReadyServer(); browser = await startBrowser(); });
after(async () => { await browser?.close(); await server?.stop(); });

// Replies have choices of the same names further down.
const modes = (page) => page.locator('form[action="/settings/mode"]');

async function choose(page, mode) {
  await page.goto(`${server.url}/settings`);
  await modes(page).getByRole("radio", { name: new RegExp(`^${mode}`) }).check();
  await modes(page).getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("The mode is in force for every request from now on").waitFor();
}

test("a mode saved in Settings binds the next request", async () => {
  const page = await browser.open();
  await signIn(page, server);
  assert.equal((await server.ask(NOTE)).status, 200);
  await choose(page, "Block");
  await page.getByText(`set by ${OWNER}`).waitFor();
  const sent = server.provider.seen.length;
  const blocked = await server.ask(NOTE);
  assert.equal(blocked.status, 403);
  assert.equal(blocked.body.error.code, "phi_blocked");
  assert.equal(server.provider.seen.length, sent, "nothing was sent");
  await choose(page, "Mask");
  assert.equal((await server.ask(NOTE)).status, 200);
  assert.ok(server.provider.seen.at(-1).includes("[SSN]"));
  assert.ok(!server.provider.seen.at(-1).includes("536-22-8741"));
  await choose(page, "Flag");
  assert.equal((await server.ask(NOTE)).status, 200);
});

test("Settings can be passed with the keyboard alone", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/settings`);
  const focused = () => page.evaluate(() => {
    const element = document.activeElement;
    return `${element.tagName} ${element.getAttribute("name") || element.textContent.trim()} ${element.value || ""}`;
  });
  let steps = 0;
  while (!(await focused()).startsWith("INPUT mode") && steps < 60) { await page.keyboard.press("Tab"); steps += 1; }
  assert.ok((await focused()).startsWith("INPUT mode flag"), await focused());
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.ok((await focused()).startsWith("INPUT mode redact"), await focused());
  await page.keyboard.press("Tab");
  assert.ok((await focused()).startsWith("BUTTON Save"), await focused());
  await page.keyboard.press("Enter");
  await page.getByText("The mode is in force for every request from now on").waitFor();
  assert.ok(await modes(page).getByRole("radio", { name: /^Redact/ }).isChecked());
  await choose(page, "Flag");
});

test("settings that cannot be taken keep what was typed", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/settings`);
  await page.getByLabel("Keep originals and sent content, days").fill("99999");
  await page.getByLabel("Your medical record number formats").fill("AB-999999");
  await page.evaluate(() => document.querySelectorAll("form").forEach((form) => form.setAttribute("novalidate", "")));
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("must be a whole number from 0 to 36500").waitFor();
  assert.equal(await page.getByLabel("Your medical record number formats").inputValue(), "AB-999999");
  await page.getByLabel("Keep originals and sent content, days").fill("365");
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("Tick the box under Retention if you mean it").waitFor();
  await page.getByLabel("Delete sooner than before").check();
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("Settings saved").waitFor();
  assert.equal(await page.getByLabel("Keep originals and sent content, days").inputValue(), "365");
});

test("a key is created, used, revoked and refused", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/keys`);
  await page.getByLabel("Name").fill("short lived");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = (await page.locator("#new-key").textContent()).trim();
  assert.equal((await ask(server, key, "Hello.")).status, 200);
  await page.goto(`${server.url}/keys`);
  const row = page.getByRole("row", { name: /short lived/ });
  await row.getByText("Revoke", { exact: true }).click();
  await row.getByRole("button", { name: "Revoke the key" }).click();
  await page.getByText("Key revoked").waitFor();
  const refused = await ask(server, key, "Hello.");
  assert.equal(refused.status, 401);
  assert.equal(refused.body.error.code, "invalid_api_key");
});

test("the playground highlights as one types and sends through the real pipeline", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/playground`);
  await page.getByLabel("Text", { exact: true }).pressSequentially("SSN 536-22-8741 and <script>alert(1)</script>", { delay: 5 });
  await page.locator("mark", { hasText: "536-22-8741" }).first().waitFor();
  await page.getByText("[SSN]").first().waitFor();
  const before = server.provider.seen.length;
  await page.getByLabel("Model").fill("gpt-4o");
  await page.getByRole("button", { name: "Send through the gateway" }).click();
  // The four stages: as typed, as it left, as it came, as a caller gets it.
  const stage = (title) => page.getByRole("region", { name: title });
  await stage("As given back").getByText("Drink <b>tea</b>.").waitFor();
  assert.equal(await stage("As received").textContent(), "SSN 536-22-8741 and <script>alert(1)</script>");
  const left = server.provider.seen.at(-1);
  assert.ok((await stage("As sent").textContent()).startsWith("SSN "), left);
  assert.ok((await stage("As answered").textContent()).includes("tea"));
  assert.equal(server.provider.seen.length, before + 1);
  await page.getByRole("link", { name: "Its audit record" }).click();
  await page.getByText("Content is sealed").waitFor();
});

test("a provider key can be removed, and the page says what follows", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/providers`);
  const anthropic = page.locator("#anthropic");
  await anthropic.getByLabel("API key").fill("another-invented-key-9z9z");
  await anthropic.getByRole("button", { name: "Save key" }).click();
  await anthropic.getByText("9z9z").waitFor();
  await anthropic.getByText("Remove key", { exact: true }).click();
  await anthropic.getByRole("button", { name: "Remove the key" }).click();
  await page.getByText("Key removed").waitFor();
  await anthropic.getByText("No key yet").waitFor();
  await anthropic.getByLabel("API key").fill("another-invented-key-9z9z");
  await anthropic.getByLabel("Base URL").fill("ftp://nowhere.example");
  await anthropic.getByRole("button", { name: "Save key" }).click();
  await anthropic.locator(".notice.bad").waitFor();
  assert.equal(await anthropic.getByLabel("Base URL").inputValue(), "ftp://nowhere.example");
});

test("a stored provider key goes to no other address unless it is pasted again", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/providers`);
  const openai = page.locator("#openai");
  await openai.getByLabel("Base URL").fill("http://127.0.0.1:9/elsewhere");
  await openai.getByRole("button", { name: "Save" }).click();
  await openai.getByText("The stored key belongs to the old address").waitFor();
  assert.equal((await server.ask("Hello.")).status, 200);
  await openai.getByLabel("Base URL").fill(server.provider.url);
  await openai.getByRole("button", { name: "Save" }).click();
  // What was done is said where one looks, also after a form further down.
  await page.getByText("Saved. The key is stored encrypted").waitFor();
  assert.equal(await page.evaluate(() => scrollY), 0);
});

test("an invitation is listed until it is used, and can be withdrawn", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/users`);
  await page.getByLabel("E-mail").fill("wrong.person@clinic.example");
  await page.getByRole("button", { name: "Make an invitation link" }).click();
  const link = (await page.locator("#invite-link").textContent()).trim();
  await page.getByRole("row", { name: /wrong\.person/ }).getByRole("button", { name: "Withdraw" }).click();
  await page.getByText("Invitation withdrawn").waitFor();
  assert.equal(await page.getByText("wrong.person").count(), 0);
  assert.equal((await page.goto(link)).status(), 404);
  await page.getByText("This link does not work any more").waitFor();
});

test("long names stay within their column", async () => {
  const page = await browser.open();
  await signIn(page, server);
  const name = "the-key-of-the-intake-form-at-the-department-of-radiology-in-the-long-named-house";
  const key = await server.command(["key", "create", "--name", name.slice(0, 80)]);
  const long = { model: `gpt-${"x".repeat(120)}`, messages: [{ role: "user", content: NOTE }] };
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  await (await fetch(`${server.url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(long) })).text();
  for (const path of ["/", "/audit", "/keys"]) {
    await page.goto(server.url + path);
    const over = await page.locator(".table-wrap").first().evaluate((wrap) => wrap.scrollWidth - wrap.clientWidth);
    assert.ok(over <= 0, `the table on ${path} is ${over} pixels too wide`);
  }
  await page.goto(`${server.url}/keys`);
  const heights = await page.locator("td[data-label=ID] code").evaluateAll((ids) => ids.map((id) => id.getClientRects().length));
  assert.ok(heights.every((lines) => lines === 1), `ids are broken over lines: ${heights}`);
});

test("on a phone the chart begins at now", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, server);
  await server.ask("Hello.");
  await page.goto(server.url);
  const isSeen = await page.locator(".chart g.column").last().evaluate((column) => {
    const [box, wrap] = [column.getBoundingClientRect(), column.closest(".chart-wrap").getBoundingClientRect()];
    return box.left >= wrap.left && box.right <= wrap.right + 1;
  });
  assert.ok(isSeen);
});

test("the playground shows the modes once there is a text", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/playground`);
  assert.equal(await page.getByText("The provider gets").count(), 0);
  await page.getByLabel("Text", { exact: true }).fill(NOTE);
  await page.getByRole("heading", { name: "Under each mode" }).waitFor();
});

test("an invited auditor reads the log and cannot change settings", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/users`);
  await page.getByLabel("E-mail").fill("new.auditor@clinic.example");
  await page.getByRole("button", { name: "Make an invitation link" }).click();
  const link = (await page.locator("#invite-link").textContent()).trim();
  const guest = await browser.open();
  await guest.goto(link);
  await guest.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await guest.getByLabel("Password again").fill(PASSWORD);
  await guest.getByRole("button", { name: "Create login" }).click();
  await guest.getByText("Your login is ready").waitFor();
  assert.equal(await guest.getByRole("link", { name: "Settings" }).count(), 0);
  const refused = await guest.goto(`${server.url}/settings`);
  assert.equal(refused.status(), 403);
  await guest.getByText("Not for your role").waitFor();
  // Also when the form is made by hand, with this session's own token.
  await guest.goto(`${server.url}/audit`);
  const status = await guest.evaluate(async () => {
    const csrf = document.querySelector("input[name=csrf]").value;
    const body = new URLSearchParams({ csrf, mode: "block" });
    return (await fetch("/settings/mode", { method: "POST", body })).status;
  });
  assert.equal(status, 403);
  assert.equal((await server.ask(NOTE)).status, 200);
  // Removed, the session ends at once.
  await page.goto(`${server.url}/users`);
  const row = page.getByRole("row", { name: /new\.auditor/ });
  await row.getByText("Remove", { exact: true }).click();
  await row.getByRole("button", { name: "Remove the user" }).click();
  await page.getByText("User removed").waitFor();
  await guest.goto(`${server.url}/audit`);
  await guest.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("a second factor is asked for, and each code works once", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/account`);
  await page.getByRole("button", { name: "Set up" }).click();
  await page.locator("svg.qr").waitFor();
  const secret = (await page.locator("#totp-secret").textContent()).trim();
  const code = codeOf(secret);
  await page.getByLabel("Code from the app").fill(code);
  await page.getByLabel("Your password").fill(PASSWORD);
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByText("Second factor turned on").waitFor();
  await page.getByRole("button", { name: "Sign out" }).first().click();
  await page.getByLabel("E-mail").fill(AUDITOR);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("not the code the app shows now").waitFor();
  await page.getByLabel("Code").fill(codeOf(secret, Date.now() + 30_000));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});

test("a session is signed out from the list, at once", async () => {
  const [here, there] = [await browser.open(), await browser.open()];
  await signIn(there, server);
  await signIn(here, server);
  await here.goto(`${server.url}/account`);
  const others = here.locator("tbody tr", { hasNotText: "this one" });
  await others.first().getByRole("button", { name: "Sign out" }).click();
  await here.getByText("That session was signed out").waitFor();
  await there.goto(`${server.url}/audit`);
  await there.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("a changed password ends the other sessions", async () => {
  const [here, there] = [await browser.open(), await browser.open()];
  await signIn(here, server);
  await signIn(there, server);
  await here.goto(`${server.url}/account`);
  await here.getByLabel("Current password").fill(PASSWORD);
  await here.getByLabel("New password", { exact: true }).fill(`${PASSWORD} more`);
  await here.getByLabel("New password again").fill(`${PASSWORD} more`);
  await here.getByRole("button", { name: "Change password" }).click();
  await here.getByText("Password changed").waitFor();
  await there.goto(`${server.url}/audit`);
  await there.getByRole("heading", { name: "Sign in" }).waitFor();
});

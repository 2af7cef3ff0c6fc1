// An owner's pages: modes, keys, providers, users, the playground.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AUDITOR, NOTE, OWNER, PASSWORD, ask, codeOf, signIn, startBrowser, startReadyServer } from "./support.mjs";

let server, browser;
before(async () => { server = await startReadyServer(); browser = await startBrowser(); });
after(async () => { await browser?.close(); await server?.stop(); });

const modes = (page) => page.locator('form[action="/settings"]');

async function choose(page, mode) {
  await page.goto(`${server.url}/settings`);
  await modes(page).getByRole("radio", { name: new RegExp(`^${mode}`) }).check();
  await modes(page).getByRole("button", { name: "Save", exact: true }).click();
  // Letting PHI pass needs a confirmation.
  const why = page.getByLabel("Reason");
  await why.or(page.getByText("The mode is in force")).first().waitFor();
  if (await why.count()) {
    await why.fill("a test of the dashboard");
    await page.getByRole("button", { name: "Save anyway" }).click();
  }
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

test("a profile saved in Settings binds the next request", async () => {
  const page = await browser.open();
  await signIn(page, server);
  const profile = async (name, generalize) => {
    await page.goto(`${server.url}/settings`);
    await modes(page).getByRole("radio", { name }).check();
    await modes(page).getByRole("checkbox", { name: /^Generalize/ }).setChecked(generalize);
    await modes(page).getByRole("button", { name: "Save", exact: true }).click();
  };
  await choose(page, "Mask");
  await profile(/^Safe Harbor list/, true);
  await page.getByText("Settings saved").waitFor();
  assert.equal(await server.command(["profile", "get"]), "safe_harbor");
  assert.match(await page.locator("main").textContent(), /removed as detected/);
  assert.doesNotMatch(await page.locator("main").textContent(), /de-identif/i);
  await server.ask("The patient's date of birth is 03/14/1962, the NPI is 1245319599.");
  assert.ok(server.provider.seen.at(-1).includes("birth is 1962, the NPI is [NPI]"), server.provider.seen.at(-1));
  await profile(/^Eight kinds/, false);
  await page.getByText("are no longer looked for").waitFor();
  await page.getByLabel("Reason").fill("the test is over");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("Settings saved").waitFor();
  assert.equal(await server.command(["profile", "get"]), "eight");
  await choose(page, "Flag");
});

test("settings can be changed by keyboard alone", async () => {
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
  assert.ok((await focused()).startsWith("INPUT profile eight"), await focused());
  await page.keyboard.press("Tab");
  assert.ok((await focused()).startsWith("INPUT generalize"), await focused());
  await page.keyboard.press("Tab");
  assert.ok((await focused()).startsWith("BUTTON Save"), await focused());
  await page.keyboard.press("Enter");
  await page.getByText("The mode is in force for every request from now on").waitFor();
  assert.ok(await modes(page).getByRole("radio", { name: /^Redact/ }).isChecked());
  await choose(page, "Flag");
});

test("refused settings keep the typed values", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/settings/retention`);
  await page.getByLabel("Keep originals and sent content, days").fill("99999");
  await page.getByLabel("Keep records, days").fill("3000");
  await page.evaluate(() => document.querySelectorAll("form").forEach((form) => form.setAttribute("novalidate", "")));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("must be a whole number from 0 to 36500").waitFor();
  assert.equal(await page.getByLabel("Keep records, days").inputValue(), "3000");
});

test("each settings page has one form to save", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/settings`);
  const subjects = await page.getByRole("navigation", { name: "Subjects" }).getByRole("link").evaluateAll((links) => links.map((link) => link.pathname));
  assert.deepEqual(subjects, ["/settings", "/settings/policy", "/settings/allow", "/settings/recognizers", "/settings/rosters", "/settings/replies", "/settings/detection", "/settings/retention", "/settings/limits", "/settings/sign-in"]);
  const lists = ["/settings/allow", "/settings/recognizers", "/settings/rosters"];
  for (const subject of subjects.filter((subject) => !lists.includes(subject))) {
    await page.goto(server.url + subject);
    // Single sign-on has a form of its own, with a button that names it.
    const forms = page.locator("main form[method=post]:not([action^='/settings/sign-in/sso'])");
    assert.equal(await forms.count(), 1, `${subject} has one form`);
    assert.equal(await page.getByRole("button", { name: /^(Save|Preview)$/ }).count(), 1, subject);
  }
});

test("unsaved changes are shown, confirmed and discarded", async () => {
  const context = await browser.open();
  await signIn(context, server);
  await context.goto(`${server.url}/settings/limits`);
  const field = context.getByLabel("Requests per minute");
  assert.equal(await context.getByText("Unsaved changes").count(), 0);
  await field.fill("77");
  await context.getByText("Unsaved changes").waitFor();
  // The browser's own dialog; the navigation is cancelled.
  context.removeAllListeners("dialog");
  const asked = new Promise((done) => context.once("dialog", async (dialog) => { done(dialog.type()); await dialog.dismiss(); }));
  await context.getByRole("link", { name: "Overview" }).first().click({ noWaitAfter: true });
  assert.equal(await asked, "beforeunload");
  assert.equal(await field.inputValue(), "77");
  await context.getByRole("button", { name: "Discard changes" }).click();
  assert.equal(await field.inputValue(), "");
  await context.getByText("Unsaved changes").waitFor({ state: "detached" }).catch(() => {});
  await context.goto(server.url);
});

test("weakening protection needs confirmation and a reason", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await choose(page, "Mask");
  assert.equal((await server.ask(NOTE)).status, 200);
  await page.goto(`${server.url}/settings`);
  await modes(page).getByRole("radio", { name: /^Flag/ }).check();
  await modes(page).getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("heading", { name: "This weakens protection" }).waitFor();
  assert.match(await page.locator("main").textContent(), /In the last 30 days, phigate changed or held back \d+ requests? with PHI/);
  assert.equal(await server.command(["mode", "get"]), "mask", "nothing is saved yet");
  await page.getByRole("link", { name: "Keep things as they are" }).click();
  assert.equal(await server.command(["mode", "get"]), "mask");
  await page.goto(`${server.url}/settings/retention`);
  await page.getByLabel("Keep originals and sent content, days").fill("365");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Originals and sent content are deleted after 365 days, for good").waitFor();
  await page.getByLabel("Reason").fill("Policy 12 of the clinic");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("Settings saved").waitFor();
  assert.equal(await page.getByLabel("Keep originals and sent content, days").inputValue(), "365");
  await page.goto(`${server.url}/audit/administration?act=settings.set`);
  await page.getByText("Policy 12 of the clinic").first().waitFor();
  // A longer retention needs no confirmation.
  await page.goto(`${server.url}/settings/retention`);
  await page.getByLabel("Keep originals and sent content, days").fill("2192");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Settings saved").waitFor();
  await choose(page, "Flag");
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

test("the playground highlights while typing and sends", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/playground`);
  await page.getByLabel("Text", { exact: true }).pressSequentially("SSN 536-22-8741 and <script>alert(1)</script>", { delay: 5 });
  await page.locator("mark", { hasText: "536-22-8741" }).first().waitFor();
  await page.getByText("[SSN]").first().waitFor();
  const before = server.provider.seen.length;
  await page.getByLabel("Model").fill("gpt-4o");
  await page.getByRole("button", { name: "Send through the gateway" }).click();
  // The four stages: typed, sent, received, answered.
  const stage = (title) => page.getByRole("region", { name: title });
  await stage("As given back").getByText("Drink <b>tea</b>.").waitFor();
  assert.equal(await stage("As received").textContent(), "SSN 536-22-8741 and <script>alert(1)</script>");
  const left = server.provider.seen.at(-1);
  assert.ok((await stage("As sent").textContent()).startsWith("SSN "), left);
  assert.ok((await stage("As answered").textContent()).includes("tea"));
  assert.equal(server.provider.seen.length, before + 1);
  await page.getByRole("link", { name: "Open the audit record" }).click();
  await page.getByText("Content is sealed").waitFor();
});

test("the playground scans a document that is chosen", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/playground`);
  const html = "<html><body><p>The usual doses.</p><!-- SSN 536-22-8741 --></body></html>";
  const choose = (name, buffer) => page.getByLabel("Or drop a document here").setInputFiles({ name, mimeType: "text/plain", buffer });
  await choose("letter.html", Buffer.from(html));
  const found = page.getByRole("region", { name: "Found in the document" });
  await found.getByText("536-22-8741").waitFor();
  await found.getByText("1 finding", { exact: true }).waitFor();
  await choose("picture.png", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"));
  await found.getByText("not read: its type").waitFor();
  await page.getByLabel("Text", { exact: true }).pressSequentially("Call 415-555-0134.", { delay: 5 });
  await page.locator("mark", { hasText: "415-555-0134" }).first().waitFor();
  assert.ok(await found.isVisible());
});

test("a provider key can be removed", async () => {
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

test("a stored provider key is bound to its address", async () => {
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
  // The result is shown at the top, also after a form further down.
  await page.getByText("Saved. The key is stored encrypted").waitFor();
  assert.equal(await page.evaluate(() => scrollY), 0);
});

test("an invitation is listed until it is used, and can be withdrawn", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/users`);
  await page.getByLabel("E-mail").fill("wrong.person@clinic.example");
  await page.getByRole("button", { name: "Create invite link" }).click();
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

test("on a phone the chart starts at the present", async () => {
  const page = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, server);
  await server.ask("Hello.");
  await page.goto(server.url);
  const isSeen = await page.locator(".chart a.column").last().evaluate((column) => {
    const [box, wrap] = [column.getBoundingClientRect(), column.closest(".chart-wrap").getBoundingClientRect()];
    return box.left >= wrap.left && box.right <= wrap.right + 1;
  });
  assert.ok(isSeen);
});

test("the playground shows the modes with a text", async () => {
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
  await page.getByRole("button", { name: "Create invite link" }).click();
  const link = (await page.locator("#invite-link").textContent()).trim();
  const guest = await browser.open();
  await guest.goto(link);
  await guest.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await guest.getByLabel("Password again").fill(PASSWORD);
  await guest.getByRole("button", { name: "Create login" }).click();
  await guest.getByText("Your login is ready").waitFor();
  await guest.goto(`${server.url}/settings`);
  await guest.getByText("Your role reads this page").waitFor();
  assert.ok(await guest.locator("input[name=mode]").first().isDisabled());
  const refused = await guest.goto(`${server.url}/audit/installation`);
  assert.equal(refused.status(), 403);
  await guest.getByText("Not for your role").waitFor();
  await guest.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit log" }).waitFor();
  // Also for a forged form with this session's token.
  await guest.goto(`${server.url}/audit`);
  const status = await guest.evaluate(async () => {
    const csrf = document.querySelector("input[name=csrf]").value;
    const body = new URLSearchParams({ csrf, mode: "block" });
    return (await fetch("/settings", { method: "POST", body })).status;
  });
  assert.equal(status, 403);
  assert.equal((await server.ask(NOTE)).status, 200);
  // Removing the user ends the session at once.
  await page.goto(`${server.url}/users`);
  const row = page.getByRole("row", { name: /new\.auditor/ });
  await row.getByText("Remove", { exact: true }).click();
  await row.getByRole("button", { name: "Remove the user" }).click();
  await page.getByText("User removed").waitFor();
  await guest.goto(`${server.url}/audit`);
  await guest.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("each code of a second factor works once", async () => {
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
  const codes = (await page.locator("#recovery-codes").textContent()).trim().split(/\s+/);
  assert.equal(codes.length, 10);
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
  // Without the app: a recovery code, once.
  for (const [code, works] of [[codes[0], true], [codes[0], false], [codes[1].toUpperCase(), true]]) {
    await page.context().clearCookies();
    await page.goto(`${server.url}/login`);
    await page.getByLabel("E-mail").fill(AUDITOR);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Code").fill(code);
    await page.getByRole("button", { name: "Continue" }).click();
    const expected = works ? page.getByRole("heading", { name: "Overview" }) : page.getByText("not the code the app shows now");
    await expected.waitFor();
  }
});

test("roles are changed, sessions are shown and ended", async () => {
  const [page, other] = [await browser.open(), await browser.open()];
  const email = "second@clinic.example";
  await server.command(["user", "add", email, "--password-stdin", "--role", "auditor"], PASSWORD);
  await signIn(page, server);
  await signIn(other, server, email);
  await page.goto(`${server.url}/users`);
  const session = page.locator("section", { has: page.getByRole("heading", { name: "Signed in now" }) }).getByRole("row", { name: /second@/ });
  await session.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("That session was signed out").waitFor();
  await other.goto(`${server.url}/audit`);
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  const row = page.locator("section", { has: page.getByRole("heading", { name: "People" }) }).getByRole("row", { name: /second@/ });
  await row.getByText("Change role", { exact: true }).click();
  // The dialog opens over the page: the row stays the same, and Escape closes it.
  const before = (await row.boundingBox()).height;
  await page.getByRole("button", { name: "Change the role" }).waitFor();
  await page.keyboard.press("Escape");
  assert.ok(!(await page.getByRole("button", { name: "Change the role" }).isVisible()));
  assert.ok(Math.abs((await row.boundingBox()).height - before) < 2, "the row does not grow");
  await row.getByText("Change role", { exact: true }).click();
  await page.getByLabel(`New role of ${email}`).selectOption("owner");
  await page.getByRole("button", { name: "Change the role" }).click();
  await page.getByText("Role changed").waitFor();
  await signIn(other, server, email);
  assert.equal((await other.goto(`${server.url}/settings`)).status(), 200);
});

test("a second factor can be required of all users", async () => {
  const [page, other] = [await browser.open(), await browser.open()];
  await signIn(page, server);
  await page.goto(`${server.url}/settings/sign-in`);
  await page.getByLabel("Require a second factor for everybody").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Set up your own second factor first").waitFor();
  await page.goto(`${server.url}/account`);
  await page.getByRole("button", { name: "Set up" }).click();
  const secret = (await page.locator("#totp-secret").textContent()).trim();
  await page.getByLabel("Code from the app").fill(codeOf(secret));
  await page.getByLabel("Your password").fill(PASSWORD);
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByText("Second factor turned on").waitFor();
  await page.goto(`${server.url}/settings/sign-in`);
  await page.getByLabel("Require a second factor for everybody").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Settings saved").waitFor();
  const email = "third@clinic.example";
  await server.command(["user", "add", email, "--password-stdin", "--role", "owner"], PASSWORD);
  await signIn(other, server, email);
  await other.getByText("This account requires one for everybody").waitFor();
  assert.equal((await other.goto(`${server.url}/audit`)).status(), 403);
  await other.getByRole("link", { name: "Set it up" }).click();
  await other.getByRole("button", { name: "Set up" }).waitFor();
  await page.goto(`${server.url}/settings/sign-in`);
  await page.getByLabel("Require a second factor for everybody").uncheck();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByLabel("Reason").fill("the end of a test");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("Settings saved").waitFor();
  await page.goto(`${server.url}/account`);
  await page.getByText("Turn off", { exact: true }).click();
  await page.getByLabel("Your password").last().fill(PASSWORD);
  await page.getByRole("button", { name: "Turn off the second factor" }).click();
  await page.getByText("Second factor turned off").waitFor();
});

test("the playground sends once, streams, and takes whole messages", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/playground?example=yes`);
  await page.locator("mark").first().waitFor();
  await page.getByLabel("Model").fill("gpt-4o");
  const send = page.getByRole("button", { name: "Send through the gateway" });
  const before = server.provider.seen.length;
  server.provider.delay = 1500;
  await send.click();
  await page.getByText("Waiting for the provider").waitFor();
  assert.ok(await send.isDisabled());
  assert.equal(await send.getAttribute("aria-busy"), "true");
  await page.getByRole("heading", { name: "Answer", exact: true }).waitFor();
  server.provider.delay = 0;
  assert.ok(await send.isEnabled());
  assert.equal(server.provider.seen.length, before + 1);
  assert.equal(new URL(page.url()).pathname, "/playground");
  await page.getByLabel("Text", { exact: true }).fill('[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello."}]');
  await page.getByLabel("The text is").selectOption("json");
  await page.getByLabel("Stream").check();
  await send.click();
  await page.getByRole("region", { name: "As given back" }).getByText("Drink tea, slowly.").waitFor();
  const sent = JSON.parse(server.provider.seen.at(-1));
  assert.deepEqual([sent.stream, sent.messages.length, sent.messages[0].role], [true, 2, "system"]);
  await page.getByText("As a curl command").click();
  assert.ok((await page.locator("pre[data-scan=curl]").textContent()).includes('"Be brief."'));
});

test("a session is signed out from the list, at once", async () => {
  const [here, there] = [await browser.open(), await browser.open()];
  await signIn(there, server);
  await signIn(here, server);
  await here.goto(`${server.url}/account`);
  const others = here.locator("tbody tr", { hasNotText: "this browser" });
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

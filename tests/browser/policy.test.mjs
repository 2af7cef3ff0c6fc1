// Policy in Settings: the matrix, its preview, and what it binds.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AUDITOR, signIn, startBrowser, startReadyServer } from "./support.mjs";

let server, browser;
before(async () => {
  server = await startReadyServer();
  browser = await startBrowser();
  await server.command(["mode", "set", "mask"]);
});
after(async () => { await browser?.close(); await server?.stop(); });

const CALL = "Please call the patient at 415-555-0134 tomorrow.";
const shown = async () => JSON.parse(await server.command(["policy", "show", "--json"])).policy;
const word = async (kind) => (await shown()).find((row) => row.kind === kind);

test("changed policy shows its past effect and binds the next request", async () => {
  assert.equal((await server.ask(CALL)).status, 200);
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/settings/policy`);
  await page.getByText("8 kinds masked").waitFor();
  await page.getByLabel("Phone, Account").selectOption({ label: "Block" });
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("1 request would have been blocked").waitFor();
  assert.equal((await word("phone")).action, "mask", "a preview saves nothing");
  assert.equal(await page.getByLabel("Reason").count(), 0, "more protection needs no reason");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Policy saved").waitFor();
  assert.deepEqual(await word("phone"), { kind: "phone", action: "block", by: "account" });
  assert.equal((await server.ask(CALL)).status, 403);
});

test("weaker policy needs a reason", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/settings/policy`);
  await page.getByLabel("Phone, Account").selectOption({ label: "Flag" });
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("Protection reduced").waitFor();
  await page.getByRole("button", { name: "Change further" }).click();
  assert.equal(await page.getByLabel("Phone, Account").inputValue(), "flag");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByLabel("Reason").fill("x");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("Give a reason of 4 to 400 characters").waitFor();
  await page.getByLabel("Reason").fill("ticket 4471");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("Policy saved").waitFor();
  assert.equal((await word("phone")).action, "flag");
  await page.goto(`${server.url}/audit/administration`);
  await page.getByText("ticket 4471").first().waitFor();
});

test("words of a new group and the account are saved together", async () => {
  const page = await browser.open({ javaScriptEnabled: false });
  await signIn(page, server);
  await page.goto(`${server.url}/settings/policy`);
  await page.getByLabel("Group", { exact: true }).fill("wards");
  await page.getByRole("button", { name: "Add a column" }).click();
  await page.getByLabel("Name, Group wards").selectOption({ label: "Block" });
  await page.getByLabel("SSN, Account").selectOption({ label: "Redact" });
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Policy saved").waitFor();
  const group = JSON.parse(await server.command(["policy", "show", "--group", "wards", "--json"])).policy;
  const of = (kind) => group.find((row) => row.kind === kind);
  assert.deepEqual(of("name"), { kind: "name", action: "block", by: "group:wards" });
  assert.deepEqual(of("ssn"), { kind: "ssn", action: "redact", by: "account" });
  await page.getByText("Mask, by account").first().waitFor();
});

test("auditor reads the policy and cannot change it", async () => {
  const page = await browser.open();
  await signIn(page, server, AUDITOR);
  await page.goto(`${server.url}/settings/policy`);
  await page.getByText("Your role reads this page").waitFor();
  assert.ok(await page.getByLabel("Phone, Account").isDisabled());
});

test("key joins a group, and leaves it with a reason", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/keys`);
  const row = page.getByRole("row", { name: /intake form/ });
  await row.getByText("Group", { exact: true }).click();
  await row.locator("input[name=group]").fill("wards");
  await row.getByRole("button", { name: "Save" }).click();
  await page.getByText("Group saved").waitFor();
  await row.getByText("wards", { exact: true }).click();
  await row.locator("input[name=group]").fill("");
  await row.getByRole("button", { name: "Save" }).click();
  await page.getByText("What the group wards says no longer holds").waitFor();
  await page.getByLabel("Reason").fill("moved to another team");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("Group saved").waitFor();
  await row.getByText("Group", { exact: true }).waitFor();
});

const allowed = async () => JSON.parse(await server.command(["allow", "list", "--json"]));

test("finding of a record becomes an allowed value", async () => {
  await server.command(["policy", "set", "phone=mask", "--reason", "the next test"]);
  const asked = await server.ask("Write to desk@clinic.example, SSN 536-22-8741.");
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/audit/${asked.id}`);
  assert.equal(await page.getByRole("button", { name: /^Not PHI/ }).count(), 1, "an SSN is always PHI");
  await page.getByRole("button", { name: /^Not PHI: Email/ }).click();
  await page.getByText("no longer counts as PHI").waitFor();
  await page.getByLabel("Reason").fill("address of the front desk");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("does not count as PHI for every request").waitFor();
  const entries = await allowed();
  assert.deepEqual(entries.map((entry) => [entry.kind, entry.reason]), [["email", "address of the front desk"]]);
  await server.ask("Write to desk@clinic.example, please.");
  assert.ok(server.provider.seen.at(-1).includes("desk@clinic.example"));
  await page.getByRole("button", { name: /^Count the value/ }).click();
  await page.getByText("counts as PHI for every request").waitFor();
  assert.deepEqual(await allowed(), []);
});

test("finding of the playground is explained and can be allowed", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/playground`);
  await page.getByLabel("Text", { exact: true }).fill("Call the front desk at 415-555-0134.");
  await page.locator("mark").first().waitFor();
  await page.getByText("Why?").first().click();
  await page.getByText("findings of this kind count from").first().waitFor();
  await page.getByRole("button", { name: "Not PHI: Phone" }).click();
  assert.equal(await page.getByLabel("Value", { exact: true }).inputValue(), "415-555-0134");
  assert.equal(await page.getByLabel("Found as").inputValue(), "phone");
  await page.getByLabel("Reason").fill("number of the front desk");
  await page.getByRole("button", { name: "Allow this value" }).click();
  await page.getByText("does not count as PHI for every request").waitFor();
  await page.getByRole("button", { name: /^Count the value/ }).click();
  await page.getByLabel("Found as").selectOption("email");
  await page.getByLabel("Value", { exact: true }).fill("*desk@clinic.example");
  await page.getByLabel("Reason").fill("a wrong wildcard");
  await page.getByRole("button", { name: "Allow this value" }).click();
  await page.getByRole("alert").waitFor();
  assert.deepEqual(await allowed(), []);
});

test("recognizer is tried, saved, used and removed", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/settings/recognizers`);
  await page.getByLabel("Code").fill("x_study");
  await page.getByLabel("Name", { exact: true }).fill("Study id");
  await page.getByLabel("Pattern").fill("ZKP-\\d{4}");
  await page.getByLabel("Texts in which it is found").fill("sample ZKP-44");
  await page.getByLabel("Texts in which it is not found").fill("ZKP");
  await page.getByRole("button", { name: "Try the examples" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Texts in which it is found").fill("sample ZKP-4471");
  await page.getByRole("button", { name: "Try the examples" }).click();
  await page.getByText("Every example is right").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Recognizer saved").waitFor();
  await server.ask("Look at sample ZKP-4471.");
  assert.ok(server.provider.seen.at(-1).includes("[X_STUDY]"));
  await page.goto(`${server.url}/settings/recognizers`);
  await page.getByRole("link", { name: "1 request" }).waitFor();
  await page.goto(`${server.url}/settings/policy`);
  await page.getByLabel("Study id, Account").waitFor();
  await page.goto(`${server.url}/settings/recognizers`);
  await page.getByRole("button", { name: "Remove Study id" }).click();
  await page.getByLabel("Reason").fill("the study is over");
  await page.getByRole("button", { name: "Save anyway" }).click();
  await page.getByText("Recognizer removed").waitFor();
});

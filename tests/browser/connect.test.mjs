// Lines for each client on Help and on the page of a new key; copied lines work.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { AUDITOR, signIn, startBrowser, startReadyServer } from "./support.mjs";

let server, browser;
before(async () => { server = await startReadyServer(); browser = await startBrowser(); });
after(async () => { await browser?.close(); await server?.stop(); });

// The clients of docs/clients.md, each with its blocks.
function documented() {
  const text = readFileSync(new URL("../../docs/clients.md", import.meta.url), "utf8");
  return text.split("\n## ").slice(1).map((section) => ({
    title: section.split("\n", 1)[0],
    blocks: [...section.matchAll(/^```\w+\n([^]*?)\n```$/gm)].map((match) => match[1]),
  }));
}

// The page's blocks, in the same form.
const shown = (page) => page.locator(".clients > details").evaluateAll((clients) => clients.map((client) => ({
  title: client.querySelector("summary").firstChild.textContent.trim(),
  blocks: [...client.querySelectorAll("pre")].map((block) => block.textContent),
})));

const filled = (clients, key) => clients.map(({ title, blocks }) => ({
  title,
  blocks: blocks.map((block) => block.replaceAll("http://127.0.0.1:8080", server.url).replaceAll("YOUR_PHIGATE_KEY", key)),
}));

test("Help shows every client of the documentation, with this server's address", async () => {
  assert.ok(documented().length >= 12);
  for (const who of [undefined, AUDITOR]) {
    const page = await browser.open();
    await signIn(page, server, who);
    await page.goto(`${server.url}/help`);
    assert.deepEqual(await shown(page), filled(documented(), "YOUR_PHIGATE_KEY"));
  }
});

test("one client is unfolded at a time, by keyboard too", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/help`);
  const open = () => page.locator(".clients > details[open] > summary").allTextContents();
  assert.deepEqual((await open()).map((title) => title.trim()), ["curl"]);
  await page.locator(".clients > details > summary", { hasText: "LangChain" }).focus();
  await page.keyboard.press("Enter");
  assert.deepEqual((await open()).map((title) => title.trim()), ["LangChain"]);
  await page.locator(".clients > details[open]").getByText("No provider of this account takes Anthropic Messages yet.").waitFor();
});

test("lines copied beside a new key work", async () => {
  const page = await browser.open({ permissions: ["clipboard-read", "clipboard-write"] });
  await signIn(page, server);
  await page.goto(`${server.url}/keys`);
  await page.getByLabel("Name").fill("ward terminal");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = (await page.locator("#new-key").textContent()).trim();
  assert.deepEqual(await shown(page), filled(documented(), key));
  for (const client of documented()) {
    await page.locator(".clients > details > summary", { hasText: new RegExp(`^${client.title}`) }).evaluate((summary) => { summary.parentElement.open = true; });
    const buttons = page.locator(".clients > details[open]").getByRole("button", { name: `Copy ${client.title}:` });
    assert.equal(await buttons.count(), client.blocks.length, client.title);
    for (let number = 0; number < client.blocks.length; number += 1) {
      await buttons.nth(number).click();
      await page.locator(".clients > details[open] button", { hasText: "Copied" }).first().waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(copied, filled([client], key)[0].blocks[number]);
    }
  }
  const sent = server.provider.seen.length;
  const [{ blocks: [curl] }] = filled(documented(), key);
  const { stdout } = await promisify(execFile)("bash", ["-euc", curl.replace("curl ", "curl -sS ")]);
  assert.equal(JSON.parse(stdout).choices[0].message.content, "Drink <b>tea</b>.");
  assert.equal(server.provider.seen.length, sent + 1);
});

test("lines name models of the account's providers", async () => {
  await server.command(["provider", "remove", "openai"]);
  const set = ["provider", "set", "vertex-us", "--kind", "vertex", "--project", "ward", "--region", "us-east5", "--models", "claude-sonnet-4-5", "--key-stdin"];
  const account = { type: "service_account", client_email: "a@b.example", private_key_id: "1", private_key: serviceKey(), token_uri: "https://oauth2.googleapis.com/token" };
  await server.command(set, JSON.stringify(account));
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/help`);
  const clients = Object.fromEntries((await shown(page)).map(({ title, blocks }) => [title, blocks]));
  assert.ok(clients.curl[0].includes('"model": "claude-sonnet-4-5"'), clients.curl[0]);
  assert.ok(clients["Anthropic SDKs"][0].includes('model="claude-sonnet-4-5"'));
  await page.locator(".clients > details", { hasText: "Codex" }).getByText("No provider for it yet").waitFor();
});

function serviceKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return privateKey.export({ type: "pkcs8", format: "pem" });
}

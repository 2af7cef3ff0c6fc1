// The Providers page: adding each kind, testing it, and its agreement.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import http from "node:http";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { OWNER, PASSWORD, signIn, startBrowser, startReadyServer, startServer } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server, browser, clouds;
before(async () => {
  server = await startReadyServer();
  clouds = await startClouds();
  browser = await startBrowser();
});
after(async () => { await browser?.close(); clouds?.close(); await server?.stop(); });

// The first segment of the path chooses the failure; the rest is ignored.
const ANSWERS = {
  fine: [200, {}, {
    id: "c", object: "chat.completion", created: 1, model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  }],
  lost: [404, {}, { error: { code: "DeploymentNotFound", message: "no" } }],
  locked: [403, {}, { error: { code: "AuthenticationTypeDisabled", message: "no" } }],
  abroad: [403, { "x-amzn-errortype": "InvalidSignatureException" }, { message: "Credential should be scoped to a valid region." }],
  late: [403, { "x-amzn-errortype": "InvalidSignatureException", date: new Date(Date.now() + 1_800_000).toUTCString() }, { message: "Signature expired: now earlier" }],
  expired: [401, {}, { error: "invalid_client", error_description: "AADSTS7000222: the secret has expired" }],
};

async function startClouds() {
  const stand = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const [status, headers, body] = ANSWERS[request.url.split("/")[1]];
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise((ready) => stand.listen(0, "127.0.0.1", ready));
  return { url: (way) => `http://127.0.0.1:${stand.address().port}/${way}`, close: () => stand.close() };
}

const AWS = '{"access_key_id":"AKIAINVENTED00000001","secret_access_key":"invented/secret+0123456789"}';
function serviceAccount() {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048, privateKeyEncoding: { type: "pkcs8", format: "pem" }, publicKeyEncoding: { type: "spki", format: "pem" },
  });
  return JSON.stringify({ type: "service_account", client_email: "g@p.iam.gserviceaccount.com", private_key: privateKey });
}

// Each preset: label, values, and the kind in the list.
const PRESETS = [
  ["azure", "Azure OpenAI", { "Base URL": "fine", Secret: "azure-invented-0123456789" }, "Azure OpenAI"],
  ["azure-entra", "Azure OpenAI, Entra ID", { "Base URL": "fine", Tenant: "t", "Client ID": "c", Secret: "entra~invented~0123" }, "Azure OpenAI"],
  ["bedrock", "AWS Bedrock", { Region: "us-east-1", Secret: AWS }, "AWS Bedrock"],
  ["bedrock-key", "AWS Bedrock, API key", { Region: "us-east-1", Secret: "bedrock-invented-0123456789" }, "AWS Bedrock"],
  ["vertex", "Google Vertex AI", { Project: "my-project", Region: "us-central1", Secret: serviceAccount }, "Google Vertex AI"],
  ["local", "A model server of your own", { "Base URL": "fine" }, "OpenAI"],
  ["compatible", "Another OpenAI-compatible service", { "Base URL": "fine", Secret: "sk-or-invented-0123456789" }, "OpenAI"],
  ["openai", "A second OpenAI account", { Secret: "sk-invented-0123456789" }, "OpenAI"],
  ["anthropic", "A second Anthropic account", { Secret: "sk-ant-invented-0123456789" }, "Anthropic"],
  ["google", "A second Gemini API key", { Secret: "google-invented-0123456789" }, "Google"],
];

const valueOf = (value) => {
  if (typeof value === "function") return value();
  return value in ANSWERS ? clouds.url(value) : value;
};

async function fill(page, fields) {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(valueOf(value));
}

test("every preset leads to its form and a listed provider", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/providers`);
  const offered = await page.locator("#add .picks strong").allTextContents();
  assert.deepEqual(offered, PRESETS.map(([, label]) => label));
  for (const [code, label, fields, kind] of PRESETS) {
    await page.goto(`${server.url}/providers`);
    await page.locator("#add").getByRole("link", { name: label, exact: false }).filter({ has: page.getByText(label, { exact: true }) }).click();
    await page.getByRole("heading", { name: `Add ${label}`, level: 1 }).waitFor();
    await page.getByText("Where to find the values").waitFor();
    // Every required field is marked.
    const needed = await page.locator("form [required]").evaluateAll((inputs) => inputs.map((input) => input.name));
    assert.equal(needed.includes("key"), "Secret" in fields, `${code}: ${needed}`);
    await page.getByLabel("Name", { exact: true }).fill(`my-${code}`);
    await fill(page, fields);
    await page.getByLabel("Models it serves").fill(`${code}-model=there`);
    await page.getByRole("button", { name: "Add provider" }).click();
    await page.getByText("Saved").first().waitFor();
    const row = page.locator("#others").getByRole("row", { name: new RegExp(`my-${code} `) });
    await row.getByText(kind, { exact: true }).waitFor();
    await row.getByText(`${code}-model=there`).waitFor();
  }
  const listed = JSON.parse(await server.command(["provider", "list", "--json"]));
  assert.equal(listed.filter(({ name }) => name.startsWith("my-")).length, PRESETS.length);
  const html = await page.content();
  for (const secret of ["invented/secret", "entra~invented", "sk-or-invented-0123"]) assert.ok(!html.includes(secret), secret);
});

test("refused providers name the field and keep values", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/providers/add/bedrock`);
  await fill(page, { Name: "odd", Region: "us-east-1", Secret: "AKIA:not-json" });
  await page.getByRole("button", { name: "Add provider" }).click();
  await page.getByRole("alert").getByText("must be JSON").waitFor();
  assert.equal(await page.getByLabel("Region", { exact: true }).inputValue(), "us-east-1");
  assert.equal(await page.getByLabel("Secret", { exact: true }).inputValue(), "", "a secret is not sent back");
  await page.goto(`${server.url}/providers/add/local`);
  await fill(page, { Name: "openai", "Base URL": "fine" });
  await page.getByRole("button", { name: "Add provider" }).click();
  await page.getByText("There is already a provider with this name").waitFor();
});

const MISTAKES = [
  ["azure", ["--kind", "azure"], "fine", "k-invented-0123456789", "Connection works"],
  ["azure", ["--kind", "azure"], "lost", "k-invented-0123456789", "The deployment does not exist"],
  ["azure", ["--kind", "azure"], "locked", "k-invented-0123456789", "Keys are disabled for this resource"],
  ["bedrock", ["--kind", "bedrock", "--region", "eu-west-1"], "abroad", AWS, "The region is wrong"],
  ["bedrock", ["--kind", "bedrock", "--region", "eu-west-1"], "late", AWS, /It is 1[5-8]\d\d seconds behind/],
  ["entra", ["--kind", "azure", "--auth", "entra", "--tenant", "t", "--client-id", "c"], "fine", "s-invented-0123456789", "The secret has expired"],
];

test("the test button explains the failure", async () => {
  const page = await browser.open();
  await signIn(page, server);
  for (const [number, [kind, options, way, secret, words]] of MISTAKES.entries()) {
    const name = `try-${kind}-${number}`;
    const more = kind === "entra" ? ["--token-url", clouds.url("expired")] : [];
    await server.command(["provider", "set", name, ...options, ...more, "--base-url", clouds.url(way), "--models", `${name}=there`, "--key-stdin"], secret);
    await page.goto(`${server.url}/provider/${name}`);
    await page.getByLabel("Model", { exact: true }).fill(name);
    await page.getByRole("button", { name: "Test connection" }).click();
    await page.getByRole("status").getByText(words).waitFor();
    await server.command(["provider", "remove", name]);
  }
});

test("agreements that end soon are warned about", async () => {
  const page = await browser.open();
  await signIn(page, server);
  const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  await page.goto(`${server.url}/provider/my-azure`);
  await page.getByLabel("What it may receive").selectOption("masked");
  await page.getByLabel("Agreement", { exact: true }).fill("BAA 2026-114");
  await page.getByLabel("Last day of the agreement").fill(day(20));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const row = page.getByRole("row", { name: /my-azure / });
  await row.getByText(`ends on ${day(20)}`).waitFor();
  await row.getByText("BAA 2026-114").waitFor();
  await page.goto(`${server.url}/provider/my-azure`);
  await page.getByRole("status").getByText(`ends on ${day(20)}`).waitFor();
  await page.goto(server.url);
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByText(`my-azure: The agreement ends on ${day(20)}`).waitFor();
  await server.command(["provider", "set", "my-azure", "--agreement-expires", day(-2), "--reason", "the contract ended"]);
  await page.goto(server.url);
  await attention.getByText(`my-azure: The agreement ended on ${day(-2)}`).waitFor();
  await server.command(["provider", "set", "my-azure", "--agreement-expires", day(300), "--reason", "the contract goes on"]);
  await page.goto(server.url);
  await page.getByRole("heading", { name: "Needs attention" }).waitFor();
  assert.equal(await page.getByText("my-azure: The agreement").count(), 0);
});

test("the order of fallbacks is shown with providers", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await server.command(["provider", "set", "my-local", "--phi", "never"]);
  await page.goto(`${server.url}/providers`);
  const box = page.getByLabel("One model per line");
  await box.fill("azure-model = my-compatible/compatible-model, local-model, unheard-of");
  await page.getByRole("button", { name: "Save fallbacks" }).click();
  await page.getByText("Saved").first().waitFor();
  const links = page.locator("#fallbacks .chains li");
  const told = (await links.allTextContents()).map((text) => text.replace(/\s+/g, " ").trim());
  assert.deepEqual(told, [
    "my-azure azure-model", "my-compatible compatible-model", "my-local local-model left out when there is PHI", "unheard-of nobody serves it",
  ]);
  await box.fill("azure-model = local-model, my-compatible/compatible-model");
  await page.getByRole("button", { name: "Save fallbacks" }).click();
  await page.getByText("Saved").first().waitFor();
  assert.match((await links.nth(1).textContent()), /my-local/);
  await box.fill("azure-model");
  await page.getByRole("button", { name: "Save fallbacks" }).click();
  await page.locator("#fallbacks [role=alert]").waitFor();
  assert.equal(await box.inputValue(), "azure-model");
});

test("the last hour of a provider is shown", async () => {
  const page = await browser.open();
  await signIn(page, server);
  await page.goto(`${server.url}/providers`);
  await page.locator("#openai").getByText("not asked in the last hour").waitFor();
  await server.ask("Hello.");
  await server.ask("Hello again.");
  // A request counts when its outcome is written, after its answer.
  const told = page.locator("#openai").getByText(/2 requests in the last hour, no errors, p50 [\d,]+ ms, p95 [\d,]+ ms/);
  for (let tries = 0; tries < 50 && !(await told.isVisible()); tries++) {
    await page.waitForTimeout(200);
    await page.goto(`${server.url}/providers`);
  }
  assert.ok(await told.isVisible());
});

test("a new owner sees the three families first", async () => {
  const fresh = await startServer();
  try {
    await fresh.command(["user", "add", OWNER, "--password-stdin", "--role", "owner"], PASSWORD);
    const page = await browser.open();
    await signIn(page, fresh);
    await page.goto(`${fresh.url}/providers`);
    const sections = await page.locator("main section").evaluateAll((all) => all.map((one) => one.id));
    assert.deepEqual(sections.slice(0, 3), ["openai", "anthropic", "google"]);
    for (const family of ["openai", "anthropic", "google"]) {
      assert.ok(await page.locator(`#${family}`).getByLabel("API key").isVisible());
    }
    const first = await page.locator("#openai").boundingBox();
    assert.ok(first.y + first.height < 900, "the first card is on the first screen");
  } finally {
    await fresh.stop();
  }
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    test(`lists and forms of providers are accessible and fit, ${colorScheme}, ${width} pixels`, async () => {
      const page = await browser.open({ colorScheme, viewport: { width, height: 844 } });
      await signIn(page, server);
      const paths = ["/providers", "/provider/my-azure-entra", "/provider/my-vertex", ...PRESETS.map(([code]) => `/providers/add/${code}`)];
      for (const path of paths) {
        await page.goto(server.url + path);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${path} is ${over} pixels too wide`);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
        assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [], path);
      }
      if (width < 800) {
        await page.goto(`${server.url}/providers`);
        const small = await page.locator("main a.button, main button, #add .picks a").evaluateAll((all) => all
          .filter((one) => one.getClientRects().length > 0)
          .map((one) => [one.textContent.trim(), one.getBoundingClientRect().height])
          .filter(([, height]) => height < 32));
        assert.deepEqual(small, [], "every button is large enough for a thumb");
      }
    });
  }
}

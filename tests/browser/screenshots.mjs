// Draws every page of a busy server at two widths, light and dark: node screenshots.mjs FOLDER
// Needs the fill_audit example: cargo build -p phigate --example fill_audit
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { NOTE, signIn, startBrowser, startReadyServer } from "./support.mjs";

const out = process.argv[2];
mkdirSync(out, { recursive: true });
const fill = join(dirname(process.env.PHIGATE), "examples", "fill_audit");
const server = await startReadyServer((data) => {
  execFileSync(fill, [data, "3000", "1.2"], { stdio: "inherit" });
});
const browser = await startBrowser();
await server.command(["mode", "set", "mask"]);
const note = await server.ask(`${NOTE}. DOB 03/04/1961, MRN 00412345, call 415-555-0134 or write to jane.roe@mail.example.`);
for (const text of ["What is the usual dose of amoxicillin?", "Summarise: Maria Delgado, DOB 02/11/1948, called.", NOTE]) {
  await server.ask(text);
}

// Providers of other kinds, an agreement that ends soon, and fallbacks.
const soon = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
await server.command(["provider", "set", "azure-eu", "--kind", "azure", "--base-url", server.provider.url, "--models", "gpt-5.2-eu=chat-prod", "--phi", "masked", "--agreement", "BAA 2026-114", "--agreement-expires", soon, "--key-stdin"], "azure-invented-0123456789");
await server.command(["provider", "set", "own", "--kind", "openai", "--auth", "none", "--base-url", server.provider.url, "--models", "llama3.1:8b,qwen-*", "--phi", "allowed"]);
await server.command(["fallback", "set", "gpt-4o", "gpt-5.2-eu,own/llama3.1:8b"]);
await server.command(["restore", "set", "on"]);

const pages = {
  overview: "/", audit: "/audit", "audit-admin": "/audit/administration", "audit-none": "/audit?model=unheard-of",
  "audit-find": "/audit/find", "audit-integrity": "/audit/integrity",
  "audit-reports": "/audit/reports", "audit-alerts": "/audit/alerts", "audit-looks": "/audit/looks",
  "settings-policy": "/settings/policy", "settings-allow": "/settings/allow", "settings-recognizers": "/settings/recognizers", "settings-rosters": "/settings/rosters",
  "key-issuers": "/keys/issuers", "admin-keys": "/keys/admin",
  record: `/audit/${note.id}`, settings: "/settings", "settings-replies": "/settings/replies", "settings-detection": "/settings/detection",
  "settings-retention": "/settings/retention", "settings-limits": "/settings/limits", "settings-sign-in": "/settings/sign-in", providers: "/providers", keys: "/keys", users: "/users",
  help: "/help", account: "/account", "provider-azure": "/provider/azure-eu", "provider-add": "/providers/add/bedrock", "overview-hour": "/?period=hour", missing: "/audit/00000000-0000-7000-8000-000000000000",
};

// The two of the README, one screen each.
{
  const page = await browser.open({ colorScheme: "light", viewport: { width: 1280, height: 860 } });
  await signIn(page, server);
  await page.screenshot({ path: join(out, "readme-overview.png") });
  await page.goto(`${server.url}/audit/${note.id}`);
  await page.getByLabel("Reason").fill("Incident 4711, requested by the privacy officer");
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.locator("#content").scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(out, "readme-reveal.png") });
}

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1440, 390]) {
    const page = await browser.open({ colorScheme, viewport: { width, height: width > 800 ? 900 : 844 } });
    const shoot = (name) => page.screenshot({ path: join(out, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    await page.goto(`${server.url}/login`);
    await shoot("login");
    await signIn(page, server);
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(server.url + path);
      await shoot(name);
    }
    await page.goto(`${server.url}/audit/${note.id}`);
    await page.getByLabel("Reason").fill("Incident 4711, requested by the privacy officer");
    await page.getByRole("button", { name: "Reveal" }).click();
    await page.getByText("Content, revealed").waitFor();
    await shoot("revealed");
    await page.goto(`${server.url}/playground`);
    await page.getByLabel("Text", { exact: true }).fill(`${NOTE}. DOB 03/04/1961, MRN 00412345, call 415-555-0134.`);
    await page.locator("mark").first().waitFor();
    await page.getByLabel("Model").fill("gpt-4o");
    await page.getByRole("button", { name: "Send through the gateway" }).click();
    await page.getByRole("heading", { name: "Answer", exact: true }).waitFor();
    await shoot("playground");
    await page.goto(`${server.url}/help`);
    await page.locator(".clients > details > summary", { hasText: "OpenAI SDKs" }).click();
    await shoot("help-client");
    await page.goto(`${server.url}/keys`);
    await page.getByLabel("Name").fill(`ward terminal ${width} ${colorScheme}`);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.locator("#new-key").waitFor();
    await shoot("keys-new");
    await page.goto(`${server.url}/settings`);
    await page.getByRole("radio", { name: /^Flag/ }).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "This weakens protection" }).waitFor();
    await shoot("weakening");
    await page.goto(`${server.url}/keys`);
    await page.getByText("Rotate", { exact: true }).first().click();
    await page.screenshot({ path: join(out, `question-${width}-${colorScheme}.png`) });
    if (width < 800) {
      await page.goto(server.url);
      await page.getByText("Menu").click();
      await shoot("menu");
    }
    await page.context().close();
  }
}
await browser.close();
await server.stop();

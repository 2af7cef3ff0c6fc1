// A new owner's path from the printed link to the first answered request.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import net from "node:net";
import { after, before, test } from "node:test";
import { OWNER, PASSWORD, ask, startBrowser, startServer } from "./support.mjs";

let server, browser;
before(async () => { server = await startServer(); browser = await startBrowser(); });
after(async () => { await browser?.close(); await server?.stop(); });

test("first run leads to the first answered request", async () => {
  const page = await browser.open();
  const link = await server.ownerLink();
  await page.goto(link);
  await page.getByLabel("E-mail").fill(OWNER);
  await page.getByLabel("Password", { exact: true }).fill("short");
  await page.getByLabel("Password again").fill("short");
  // The server checks it too, not only the browser.
  await page.evaluate(() => document.querySelector("form").setAttribute("novalidate", ""));
  await page.getByRole("button", { name: "Create login" }).click();
  await page.getByText("at least 12 characters", { exact: false }).first().waitFor();
  assert.equal(await page.getByLabel("E-mail").inputValue(), OWNER, "forms keep input on error");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("Password again").fill(PASSWORD);
  await page.getByRole("button", { name: "Create login" }).click();
  await page.getByText("Your login is ready").waitFor();

  // Step one: a provider key; only its end is shown later.
  await page.getByRole("link", { name: "Set a key" }).click();
  const openai = page.locator("#openai");
  await openai.getByLabel("API key").fill("wrong-provider-key");
  await openai.getByLabel("Base URL").fill(server.provider.url);
  await openai.getByRole("button", { name: "Save key" }).click();
  await openai.getByText("Key set").waitFor();
  await openai.getByRole("button", { name: "Test connection" }).click();
  await openai.getByText("The provider refuses the key").waitFor();
  // The state holds after the test, under the page's own address, and after a reload.
  await openai.getByText("Test failed").waitFor();
  assert.equal(new URL(page.url()).pathname, "/providers");
  await page.reload();
  await openai.getByText("Test failed").waitFor();
  assert.equal(await openai.getByText("Key set").count(), 0);
  await openai.getByLabel("Replace API key").fill("right-provider-key-4f2a");
  await openai.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved. The key is stored encrypted").waitFor();
  await openai.getByRole("button", { name: "Test connection" }).click();
  await openai.getByText("Connection works").waitFor();
  const html = await page.content();
  assert.ok(html.includes("4f2a"));
  assert.ok(!html.includes("right-provider-key"), "the key itself is never shown");

  // Step two: a key for the program, shown this once.
  await page.getByRole("link", { name: "Overview" }).first().click();
  await page.getByRole("link", { name: "Create a key" }).click();
  await page.getByLabel("Name").fill("first program");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = (await page.locator("#new-key").textContent()).trim();
  assert.match(key, /^phg_[a-z0-9]{12}_/);
  assert.ok((await page.locator(".copy pre").nth(1).textContent()).includes(server.url), "the curl line has the real address");
  await page.goto(`${server.url}/keys`);
  assert.ok(!(await page.content()).includes(key), "the key is not shown again");

  // Step three: the first request, seen on the overview without a reload.
  await page.goto(server.url);
  await page.getByText("Three steps to your first protected request").waitFor();
  assert.equal((await ask(server, key, "Say hello.")).status, 200);
  await page.locator(".figure .value", { hasText: /^1$/ }).first().waitFor();
  assert.equal(server.provider.seen.length, 1);
});

test("the link works once", async () => {
  const page = await browser.open();
  await page.goto(await server.ownerLink());
  await page.getByText("does not work any more").waitFor();
});

test("a failed start on a busy port changes nothing", async () => {
  const busy = net.createServer();
  await new Promise((ready) => busy.listen(0, "127.0.0.1", ready));
  const taken = `127.0.0.1:${busy.address().port}`;
  const fresh = await startServer((data) => {
    for (const ports of [["--listen", taken, "--metrics-listen", "off"], ["--listen", "127.0.0.1:0", "--metrics-listen", taken]]) {
      const failed = spawnSync(process.env.PHIGATE, ["serve", ...ports, "--data", data], { encoding: "utf8" });
      assert.equal(failed.status, 2, failed.stderr);
      assert.match(failed.stderr, /in use/);
      assert.ok(!existsSync(data), "nothing was created");
    }
  });
  try {
    const page = await browser.open();
    await page.goto(await fresh.ownerLink());
    await page.getByRole("heading", { name: "Create the owner login" }).waitFor();
    // A second gateway on the same folder is refused and names the first, which keeps running.
    const second = spawnSync(process.env.PHIGATE, ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--data", fresh.data], { encoding: "utf8" });
    assert.equal(second.status, 2);
    assert.match(second.stderr, /already serves the store/);
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("Password again").fill(PASSWORD);
    await page.getByRole("button", { name: "Create login" }).click();
    await page.getByText("Your login is ready").waitFor();
  } finally {
    busy.close();
    await fresh.stop();
  }
});

test("unknown pages keep the navigation when signed in", async () => {
  const page = await browser.open();
  assert.equal((await page.goto(`${server.url}/no-such-page`)).status(), 404);
  await page.getByRole("heading", { name: "Not found" }).waitFor();
  assert.equal(await page.getByRole("navigation", { name: "Pages" }).count(), 0);
  await page.goto(`${server.url}/login`);
  await page.getByLabel("E-mail").fill(OWNER);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const path of ["/no-such-page", "/audit/00000000-0000-7000-8000-000000000000", "/provider/nobody"]) {
    assert.equal((await page.goto(server.url + path)).status(), 404, path);
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit log" }).waitFor();
  }
});

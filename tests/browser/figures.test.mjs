// Every figure of the overview equals the number of requests that the log lists for it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { NOTE, signIn, startBrowser, startReadyServer } from "./support.mjs";

let server, browser;
before(async () => {
  server = await startReadyServer();
  browser = await startBrowser();
  const post = (body) => fetch(`${server.url}/v1/chat/completions`, {
    method: "POST", body, headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
  });
  const ask = (model, content, more = {}) => post(JSON.stringify({ model, messages: [{ role: "user", content }], ...more }));
  const statuses = [];
  for (const mode of ["flag", "mask", "redact", "block"]) {
    await server.command(["mode", "set", mode]);
    for (const answer of [await ask("gpt-4o", NOTE), await ask("gpt-4o-mini", "Hello."), await ask("gpt-4o", "Hi.", { metadata: { "ssn 536-22-8741": "x" } })]) {
      statuses.push(answer.status);
    }
  }
  statuses.push((await ask("claude-opus-4-5", NOTE)).status, (await ask("unheard-of", NOTE)).status, (await post("no JSON")).status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 400, 200, 200, 400, 403, 200, 403, 400, 404, 400]);
});
after(async () => { await browser?.close(); await server?.stop(); });

const listed = async (page, href) => {
  await page.goto(server.url + href);
  const total = page.locator("section[aria-label=Requests] .card-head .small").first();
  return await total.count() ? Number((await total.textContent()).match(/\d+/)[0]) : 0;
};

for (const period of ["hour", "day", "week", "month"]) {
  test(`every figure is the number of requests behind its link: ${period}`, async () => {
    const page = await browser.open();
    await signIn(page, server);
    await page.goto(`${server.url}/?period=${period}`);
    const figures = await page.locator(".figure").evaluateAll((all) => all.map((one) => ({
      label: one.querySelector(".label").textContent, value: one.querySelector(".value").textContent.trim(),
      note: one.querySelector(".note").textContent, href: one.getAttribute("href"),
    })));
    const bars = await page.locator(".bars > div").evaluateAll((all) => all.map((one) => ({
      label: one.querySelector("dt").textContent, count: one.querySelector("dd.num").textContent, href: one.querySelector("a").getAttribute("href"),
    })));
    const summary = await page.locator("svg.chart").getAttribute("aria-label");
    const figure = (label) => figures.find((one) => one.label === label);
    assert.equal(Number(figure("Requests").value), 15);
    assert.match(figure("With PHI").note, /^8 requests/);
    assert.equal(Number(figure("Blocked").value), 2);
    for (const { label, value, note, href } of figures.slice(0, 4)) {
      const shown = label === "With PHI" ? parseInt(note, 10) : Number(value);
      assert.equal(await listed(page, href), shown, label);
    }
    assert.ok(bars.length >= 8, JSON.stringify(bars));
    for (const { label, count, href } of bars) {
      // `3 of 7`: with PHI, of all that the link lists.
      const [some, all] = count.split(" of ").map(Number);
      assert.equal(await listed(page, href), all ?? some, label);
      if (all !== undefined) assert.equal(await listed(page, `${href}&record=phi`), some, `${label} with PHI`);
    }
    // Refused with PHI is not forwarded with PHI.
    const forwarded = Number(summary.match(/(\d+) PHI, forwarded/)[1]);
    assert.equal(forwarded, 2);
    assert.equal(await listed(page, "/audit?record=phi&action=forwarded"), forwarded);
  });
}

test("attention figures match the log and the mode", async () => {
  const page = await browser.open();
  await signIn(page, server);
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("2 requests with PHI were forwarded unchanged earlier in this period. The mode is Block now.").waitFor();
  assert.equal(await attention.getByText("Choose another mode").count(), 0);
  await server.command(["mode", "set", "flag", "--reason", "a test of the advice"]);
  await page.goto(server.url);
  await attention.getByRole("link", { name: "Choose another mode" }).waitFor();
});

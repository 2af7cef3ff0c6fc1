// Shared by the browser tests: a real server on its own folder, a simulated provider, a browser.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const OWNER = "owner@clinic.example";
export const AUDITOR = "auditor@clinic.example";
export const PASSWORD = "three invented words";
export const NOTE = "Patient Jane Roe, SSN 536-22-8741, has a cough";

const BINARY = process.env.PHIGATE;
const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";

// A provider that answers every request and records it.
async function startProvider() {
  const seen = [];
  const provider = { seen, delay: 0 };
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => { body += piece; });
    request.on("end", () => {
      const hasKey = (request.headers.authorization || "").endsWith("right-provider-key-4f2a");
      response.setHeader("content-type", "application/json");
      if (!hasKey) {
        response.statusCode = 401;
        response.end('{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}');
        return;
      }
      if (request.method === "GET") {
        response.end('{"object":"list","data":[]}');
        return;
      }
      seen.push(body);
      if (body.includes('"stream":true')) {
        response.setHeader("content-type", "text/event-stream");
        for (const content of ["Drink ", "tea, ", "slowly."]) {
          const choice = { index: 0, delta: { content }, finish_reason: null };
          response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "gpt-4o", choices: [choice] })}\n\n`);
        }
        response.end("data: [DONE]\n\n");
        return;
      }
      setTimeout(() => response.end(JSON.stringify({
        id: "chatcmpl-1", object: "chat.completion", created: 1, model: "gpt-4o",
        choices: [{ index: 0, message: { role: "assistant", content: "Drink <b>tea</b>." }, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
      })), provider.delay);
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return Object.assign(provider, { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() });
}

// A server on its first start. `prepare` may fill the data folder before.
export async function startServer(prepare = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), "phigate-browser-"));
  const data = join(folder, "data");
  const provider = await startProvider();
  prepare(data);
  const server = spawn(BINARY, [
    "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--allow-private-providers", "--data", data,
  ], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  server.stderr.on("data", (piece) => { errors += piece; });
  let printed = "";
  const url = await new Promise((ready, failed) => {
    server.stdout.on("data", (piece) => {
      printed += piece;
      const line = printed.match(/listening on (\S+)/);
      if (line) ready(line[1]);
    });
    server.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${errors}`)));
  });
  const command = (args, input = "") => new Promise((done, failed) => {
    const child = execFile(BINARY, ["--data", data, ...args], { cwd: folder }, (error, out) => {
      if (error) failed(error); else done(out.trim());
    });
    // A command that reads nothing may end before its input is written; its exit status tells.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
  return {
    url, provider, command, data,
    ownerLink: async () => {
      for (let tries = 0; tries < 50; tries += 1) {
        const link = errors.match(/\/setup\/\S+/);
        if (link) return url + link[0];
        await new Promise((later) => setTimeout(later, 100));
      }
      throw new Error("the server printed no link");
    },
    stop: async () => {
      server.removeAllListeners("exit");
      const ended = new Promise((done) => server.on("exit", done));
      server.kill("SIGTERM");
      provider.close();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// A configured server: owner, auditor, provider, key.
export async function startReadyServer(prepare) {
  const server = await startServer(prepare);
  await server.command(["user", "add", OWNER, "--password-stdin", "--role", "owner"], PASSWORD);
  await server.command(["user", "add", AUDITOR, "--password-stdin", "--role", "auditor"], PASSWORD);
  const key = ["provider", "set", "openai", "--key-stdin", "--base-url", server.provider.url];
  process.env.PHIGATE_ALLOW_PRIVATE_PROVIDERS = "true";
  await server.command(key, "right-provider-key-4f2a");
  server.key = await server.command(["key", "create", "--name", "intake form"]);
  server.ask = (content, apiKey = server.key) => ask(server, apiKey, content);
  return server;
}

// Sends a request as a program would.
export async function ask(server, apiKey, content) {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] }),
  });
  return { status: response.status, id: response.headers.get("x-gateway-request-id"), body: await response.json() };
}

// A browser in which unexpected dialogs, script errors, refused content and other hosts fail the test.
export async function startBrowser() {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const trouble = [];
  const open = async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("pageerror", (error) => trouble.push(`script: ${error.message}`));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) trouble.push(message.text());
    });
    page.on("request", (request) => {
      const host = new URL(request.url()).hostname;
      if (host !== "127.0.0.1") trouble.push(`asked another host: ${host}`);
    });
    return page;
  };
  return {
    open,
    close: async () => {
      await browser.close();
      assert.deepEqual(trouble, []);
    },
  };
}

export async function signIn(page, server, email = OWNER, password = PASSWORD) {
  await page.goto(`${server.url}/login`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/login");
}

// The code of an authenticator app (RFC 6238).
export function codeOf(secret, now = Date.now()) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret.replaceAll(" ", "")].map((letter) => letters.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const tag = createHmac("sha1", key).update(step).digest();
  const word = tag.readUInt32BE(tag[19] & 15) & 0x7fffffff;
  return String(word % 1_000_000).padStart(6, "0");
}

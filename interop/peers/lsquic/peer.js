// lsquic, by the module node:quic of bun, as a peer of the interoperability matrix: see interop/README.md.

import { createPrivateKey } from "node:crypto";
import { appendFileSync, createWriteStream, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { connect, listen } from "node:quic";

const UNSUPPORTED = 127;
const IDLE_SECONDS = 60;
const AT_ONCE = 64;
const CHACHA20 = "TLS_CHACHA20_POLY1305_SHA256";
const FLAGS = new Set([
  "--v2",
  "--chacha20",
  "--key-update",
  "--ecn",
  "--retry",
  "--resume",
  "--early-data",
  "--each",
  "--migrate",
]);
const CANNOT = {
  retry: "the module takes the option validateAddress, and sends no Retry",
  "key-update": "follows a key update; the module's updateKey() starts none",
  v2: "the module has no compatible version negotiation: a session has the version that it begins with",
  "preferred-address": "this program does not set the module's transport parameter for it",
  migrate: "the module has no call that moves a session to another address",
  ecn: "it sends no ECN counts and sets no marks",
};

function fail(code, why) {
  console.error(why);
  process.exit(code);
}

function read(words) {
  const options = {};
  const urls = [];
  for (let at = 0; at < words.length; at += 1) {
    if (!words[at].startsWith("--")) urls.push(new URL(words[at]));
    else options[words[at]] = FLAGS.has(words[at]) ? true : words[++at];
  }
  for (const option of Object.keys(options)) {
    const why = CANNOT[option.slice(2)];
    if (why) fail(UNSUPPORTED, `unsupported: ${option}: ${why}`);
  }
  return { options, urls };
}

// What both ends have in common.
function settings(options) {
  return {
    ...(options["--chacha20"] ? { ciphers: CHACHA20 } : {}),
    keylog: true,
    transportParams: { maxIdleTimeout: IDLE_SECONDS },
  };
}

function logKeys(session) {
  const file = process.env.SSLKEYLOGFILE;
  if (file) session.onkeylog = (line) => appendFileSync(file, `${String(line).trimEnd()}\n`);
}

async function text(stream) {
  const parts = [];
  for await (const batch of stream) for (const part of [].concat(batch)) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}

async function serve({ options }) {
  const root = options["--root"];
  const file = (path) => readFileSync(join(root, basename(path)));
  const isH3 = options["--alpn"] === "h3";
  const key = createPrivateKey(readFileSync(options["--key"]));
  const certificates = readFileSync(options["--cert"]);
  await listen(
    (session) => {
      logKeys(session);
      session.onstream = async (stream) => {
        stream.closed.catch(() => {});
        if (isH3) {
          stream.onheaders = (headers) => {
            stream.sendHeaders({ ":status": "200" });
            stream.setBody(file(headers[":path"]));
          };
          return;
        }
        const [, path] = (await text(stream)).trim().split(" ");
        stream.setBody(file(path));
      };
      session.closed.catch(() => {});
    },
    {
      ...settings(options),
      endpoint: { address: options["--listen"] },
      sni: { "*": { keys: [key], certs: [certificates] } },
      alpn: [options["--alpn"] ?? "hq-interop"],
    },
  );
  console.log(`listening on ${options["--listen"]}`);
}

async function open(options, url, more) {
  const session = await connect(url.host, {
    ...settings(options),
    alpn: options["--alpn"] ?? "hq-interop",
    ca: [readFileSync(options["--ca"])],
    servername: "localhost",
    endpoint: { address: url.hostname.startsWith("[") ? "[::]:0" : "0.0.0.0:0" },
    ...more,
  });
  logKeys(session);
  session.closed.catch((error) => fail(1, `the connection ended: ${error}`));
  return session;
}

async function fetchOne(options, session, url) {
  const isH3 = options["--alpn"] === "h3";
  const stream = isH3
    ? await session.createBidirectionalStream({
        headers: { ":method": "GET", ":scheme": "https", ":authority": url.host, ":path": url.pathname },
      })
    : await session.createBidirectionalStream({ body: Buffer.from(`GET ${url.pathname}\r\n`) });
  const file = createWriteStream(join(options["--out"], basename(url.pathname)));
  for await (const batch of stream) for (const part of [].concat(batch)) file.write(Buffer.from(part));
  await new Promise((resolve) => file.end(resolve));
}

// Fetches files over one connection; gives what the next one resumes with.
async function fetchAll(options, urls, more = {}, isEarly = false) {
  const session = await open(options, urls[0], more);
  const kept = {};
  session.onsessionticket = (ticket) => (kept.sessionTicket ??= ticket);
  session.onnewtoken = (token) => (kept.token ??= token);
  if (!isEarly) await session.opened;
  const left = [...urls];
  const worker = async () => {
    for (let url = left.shift(); url; url = left.shift()) await fetchOne(options, session, url);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, urls.length) }, worker));
  if (options["--resume"] || options["--early-data"]) {
    for (let tries = 0; !kept.sessionTicket && tries < 20; tries += 1)
      await new Promise((done) => setTimeout(done, 50));
  }
  session.closed.catch(() => {});
  await Promise.race([session.close(), new Promise((done) => setTimeout(done, 1000))]);
  return kept;
}

async function fetchFiles({ options, urls }) {
  setTimeout(() => fail(1, "timeout"), 1000 * Number(options["--timeout"] ?? 60));
  if (options["--each"]) {
    for (const url of urls) await fetchAll(options, [url]);
  } else if (options["--resume"] || options["--early-data"]) {
    const kept = await fetchAll(options, urls.slice(0, 1));
    if (!kept.sessionTicket) fail(1, "the server gave no ticket");
    await fetchAll(options, urls.slice(1), kept, Boolean(options["--early-data"]));
  } else {
    await fetchAll(options, urls);
  }
  process.exit(0);
}

const [command, ...words] = process.argv.slice(2);
if (command === "about") {
  console.log(JSON.stringify({ name: `lsquic of bun ${process.versions.bun}`, cannot: CANNOT }));
} else if (command === "serve") {
  await serve(read(words));
} else if (command === "fetch") {
  await fetchFiles(read(words)).catch((error) => fail(1, String(error)));
} else {
  fail(2, "usage: peer.js about|serve|fetch");
}

/**
 * Starts the page at once, and without a network: keeps the page's own files, and nothing of
 * anyone's. What the API says is never kept.
 *
 * Each build of the page has a cache of its own, named by its index. The newest two are kept, so
 * that a tab that still runs the last build can fetch the parts it has not needed yet.
 */
const PREFIX = "page ";
const KEPT_BUILDS = 2;
/** A server slower than this gets the kept page shown in its place. */
const PATIENCE_MS = 1500;
const PAGES = /^\/($|s\/|compare($|\/)|usage$|settings($|\/))/;
const FILES = /^\/(assets\/|theme\.js$|icon|apple-touch-icon|manifest\.webmanifest$)/;
const INDEX = "/";

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(fetch(INDEX).then(keepIndex));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate" && PAGES.test(url.pathname)) event.respondWith(index(event));
  else if (FILES.test(url.pathname)) event.respondWith(file(event));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.path ?? "/"));
});

/** The page from the server; the kept one when the server is away or slow. */
async function index(event) {
  const fresh = fetch(event.request);
  const stored = fresh.then((response) => keepIndex(response.clone())).catch(() => undefined);
  event.waitUntil(stored);
  const kept = await caches.match(INDEX, { cacheName: await newest() });
  if (!kept) return fresh;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, kept));
  return Promise.race([fresh.catch(() => kept), late]);
}

async function keepIndex(response) {
  // Only the page itself: never the way to the login, nor an error.
  if (!response.ok || response.redirected) return;
  const text = await response.clone().text();
  const name = PREFIX + (response.headers.get("etag") ?? text.length);
  if (name === (await newest())) return;
  // Caches are listed by age: a build that comes back must be the youngest again.
  await caches.delete(name);
  const cache = await caches.open(name);
  try {
    await cache.addAll(["/theme.js", "/icon.svg", ...(text.match(/\/assets\/[\w.-]+/g) ?? [])]);
    await cache.put(INDEX, response);
  } catch {
    // Half a build is none: it is tried again with the next page.
    await caches.delete(name);
  }
  const old = (await names()).slice(0, -KEPT_BUILDS);
  await Promise.all(old.map((build) => caches.delete(build)));
}

/** Names of files in assets change with what is in them: what is kept is right for ever. */
async function file(event) {
  const { request } = event;
  const fixed = new URL(request.url).pathname.startsWith("/assets/");
  const kept = await caches.match(request, { ignoreVary: true });
  if (kept && fixed) return kept;
  try {
    const response = await fetch(request);
    if (response.ok) event.waitUntil(keepFile(request, response.clone()));
    return response;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

async function keepFile(request, response) {
  const name = await newest();
  if (name) await (await caches.open(name)).put(request, response);
}

async function names() {
  return (await caches.keys()).filter((name) => name.startsWith(PREFIX));
}

async function newest() {
  return (await names()).at(-1);
}

async function open(path) {
  const [client] = await self.clients.matchAll({ type: "window" });
  if (!client) return self.clients.openWindow(path);
  client.postMessage({ go: path });
  return client.focus();
}

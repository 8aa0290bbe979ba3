/** The hub as a shared worker: one for all tabs of this browser. */

import { Hub, type Tab } from "$/link/hub";
import type { ToHub } from "./protocol";

/** Timers of hidden tabs run once a minute, so this is long. Only where there are no locks. */
const LOST_MS = 150_000;

interface Connecting extends MessageEvent {
  readonly ports: readonly MessagePort[];
}

const hub = new Hub((...given) => fetch(...given));

self.addEventListener("connect", (event) => {
  const port = (event as Connecting).ports[0];
  if (port === undefined) return;
  const tab = hub.join({ post: (word) => port.postMessage(word) });
  port.onmessage = ({ data }: MessageEvent<ToHub>) => {
    if (data.say === "hello" && data.lock !== null) whenFree(data.lock, tab);
    hub.hear(tab, data);
  };
});

/** A tab holds its lock as long as it lives: whoever gets it knows that the tab is gone. */
function whenFree(lock: string, tab: Tab): void {
  if (!("locks" in navigator)) return;
  void navigator.locks.request(lock, () => hub.part(tab));
}

if (!("locks" in navigator)) {
  setInterval(() => {
    for (const tab of hub.silentSince(Date.now() - LOST_MS)) hub.part(tab);
  }, LOST_MS / 3);
}

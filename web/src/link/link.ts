/** A tab's end of the link: which logs it follows, and who hears of them. */

import { Hub } from "$/link/hub";
import { uniqueKey } from "$/link/key";
import type { LinkState, LogKind, Piece, ToHub, ToTab } from "./protocol";

const ALIVE_MS = 20_000;

export interface Listener {
  /** All that came at once, oldest first. */
  pieces(pieces: Piece[]): void;
  /** The last seq that it has; null: it needs a snapshot. */
  cursor(): number | null;
}

interface Following {
  kind: LogKind;
  listener: Listener;
}

/** Where logs can be followed. */
export interface Logs {
  /** Follow a log from where the listener is; the function that is given back ends it. */
  follow(kind: LogKind, id: string, listener: Listener): () => void;
  /** Ask for a log again, from where its listener is now. */
  refollow(id: string): void;
}

export class Link implements Logs {
  #following = new Map<string, Following>();
  #tell: (word: ToHub) => void = () => undefined;
  onstate: (state: LinkState, since: number) => void = () => undefined;
  onunauthorized: () => void = () => undefined;

  start(): void {
    this.#tell = this.#shared() ?? this.#own();
    this.#greet();
    addEventListener("online", () => this.#tell({ say: "wake" }));
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#tell({ say: "wake" });
    });
    addEventListener("pagehide", () => this.#tell({ say: "bye" }));
    addEventListener("pageshow", (event) => {
      if (event.persisted) this.#again();
    });
    setInterval(() => this.#tell({ say: "alive" }), ALIVE_MS);
  }

  follow(kind: LogKind, id: string, listener: Listener): () => void {
    const following = { kind, listener };
    this.#following.set(id, following);
    this.#tell({ say: "follow", log: { kind, id, cursor: listener.cursor() } });
    return () => {
      if (this.#following.get(id) !== following) return;
      this.#following.delete(id);
      this.#tell({ say: "leave", id });
    };
  }

  refollow(id: string): void {
    const found = this.#following.get(id);
    if (found === undefined) return;
    const cursor = found.listener.cursor();
    this.#tell({ say: "leave", id });
    this.#tell({ say: "follow", log: { kind: found.kind, id, cursor } });
  }

  /** Hear no more, of anything. */
  stop(): void {
    this.#following.clear();
    this.#tell({ say: "bye" });
  }

  #greet(): void {
    const lock = "locks" in navigator ? `tenuto-tab-${uniqueKey()}` : null;
    if (lock === null) {
      this.#tell({ say: "hello", lock });
      return;
    }
    // Held for as long as this page lives: the hub waits for it to be let go.
    void navigator.locks.request(lock, () => {
      this.#tell({ say: "hello", lock });
      return new Promise(() => undefined);
    });
  }

  #again(): void {
    this.#tell({ say: "hello", lock: null });
    for (const [id, { kind, listener }] of this.#following) {
      this.#tell({ say: "follow", log: { kind, id, cursor: listener.cursor() } });
    }
  }

  #hear(word: ToTab): void {
    switch (word.say) {
      case "pieces":
        this.#deliver(word.pieces);
        break;
      case "state":
        this.onstate(word.state, word.since);
        break;
      case "unauthorized":
        this.onunauthorized();
        break;
      case "who":
        this.#again();
        break;
    }
  }

  #deliver(pieces: Piece[]): void {
    for (let from = 0; from < pieces.length;) {
      const log = pieces[from]?.log ?? "";
      let to = from + 1;
      while (to < pieces.length && pieces[to]?.log === log) to++;
      this.#following.get(log)?.listener.pieces(pieces.slice(from, to));
      from = to;
    }
  }

  #shared(): ((word: ToHub) => void) | null {
    if (typeof SharedWorker === "undefined") return null;
    try {
      const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), {
        type: "module",
        name: "tenuto",
      });
      worker.addEventListener("error", () => {
        // It could not be loaded: this tab goes its own way.
        this.#tell = this.#own();
        this.#again();
      });
      worker.port.onmessage = ({ data }: MessageEvent<ToTab>) => this.#hear(data);
      return (word) => worker.port.postMessage(word);
    } catch {
      return null;
    }
  }

  #own(): (word: ToHub) => void {
    const hub = new Hub((...given) => fetch(...given));
    const tab = hub.join({ post: (word) => queueMicrotask(() => this.#hear(word)) });
    return (word) => hub.hear(tab, word);
  }
}

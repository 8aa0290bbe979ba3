/** The hub holds the one stream of this browser and gives each tab what it follows.
 *
 * It lives in a shared worker, or in the page itself where there is none. */

import { Outbox, type Port } from "$/link/outbox";
import { Patience } from "$/link/patience";
import type { Frame } from "$/link/sse";
import { Stream } from "$/link/stream";
import type { LinkState, Piece, ToHub, Wanted } from "./protocol";

/** Tabs come and go in bunches: the set is looked at a moment later. */
const SETTLE_MS = 5;
/** A stream that lived this long was a good one. */
const GOOD_MS = 5_000;
/** Someone looks again after a sleep: a stream this silent is not worth waiting for. */
const DOUBT_MS = 12_000;

/** A log that some tab follows. */
interface Followed {
  wanted: Wanted;
  tabs: Set<Tab>;
  /** Tabs that came later and wait for a snapshot of their own, with what came meanwhile. */
  late: Map<Tab, { stream: Stream; held: { seq: number; piece: Piece }[] }>;
}

export class Tab {
  readonly outbox: Outbox;
  heard = Date.now();

  constructor(port: Port) {
    this.outbox = new Outbox(port);
  }
}

export class Hub {
  #tabs = new Set<Tab>();
  #logs = new Map<string, Followed>();
  #stream: Stream | null = null;
  #opening: Stream | null = null;
  #state: LinkState = "connecting";
  #since = Date.now();
  #patience: Patience;
  #settle: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly fetching: typeof fetch,
    random: () => number = Math.random,
  ) {
    this.#patience = new Patience(random);
  }

  join(port: Port): Tab {
    const tab = new Tab(port);
    this.#tabs.add(tab);
    tab.outbox.say({ say: "state", state: this.#state, since: this.#since });
    return tab;
  }

  hear(tab: Tab, word: ToHub): void {
    tab.heard = Date.now();
    if (!this.#tabs.has(tab)) {
      if (word.say === "bye") return;
      this.#tabs.add(tab);
      if (word.say !== "hello") tab.outbox.say({ say: "who" });
    }
    switch (word.say) {
      case "follow":
        this.#follow(tab, word.log);
        break;
      case "leave":
        this.#leave(tab, word.id);
        break;
      case "wake":
        this.#wake();
        break;
      case "bye":
        this.part(tab);
        break;
      case "hello":
      case "alive":
        break;
    }
  }

  /** The tab is gone, and so is all that only it followed. */
  part(tab: Tab): void {
    this.#tabs.delete(tab);
    for (const id of [...this.#logs.keys()]) this.#leave(tab, id);
  }

  /** Tabs that have not been heard of since then. */
  silentSince(moment: number): Tab[] {
    return [...this.#tabs].filter((tab) => tab.heard < moment);
  }

  #follow(tab: Tab, wanted: Wanted): void {
    const followed = this.#logs.get(wanted.id);
    if (followed === undefined) {
      this.#logs.set(wanted.id, { wanted, tabs: new Set([tab]), late: new Map() });
      this.#change();
      return;
    }
    followed.late.get(tab)?.stream.close();
    followed.late.delete(tab);
    const joins = followed.wanted.cursor === null || followed.wanted.cursor === wanted.cursor;
    if (joins) followed.tabs.add(tab);
    else this.#catchUp(tab, followed);
  }

  #leave(tab: Tab, id: string): void {
    const followed = this.#logs.get(id);
    if (followed === undefined) return;
    followed.tabs.delete(tab);
    followed.late.get(tab)?.stream.close();
    followed.late.delete(tab);
    if (followed.tabs.size > 0 || followed.late.size > 0) return;
    this.#logs.delete(id);
    this.#change();
  }

  /** A snapshot for one tab only: those who follow already have no use for it. */
  #catchUp(tab: Tab, followed: Followed): void {
    followed.tabs.delete(tab);
    const { kind, id } = followed.wanted;
    const stream = new Stream(new Map([[id, { kind, id, cursor: null }]]));
    followed.late.set(tab, { stream, held: [] });
    const frames = (got: Frame[]) => {
      const first = got.find((frame) => frame.log === id);
      if (first === undefined || followed.late.get(tab)?.stream !== stream) return;
      const held = followed.late.get(tab)?.held ?? [];
      followed.late.delete(tab);
      stream.close();
      followed.tabs.add(tab);
      tab.outbox.add(pieceOf(id, first));
      for (const { seq, piece } of held) if (seq > (first.id ?? 0)) tab.outbox.add(piece);
    };
    void stream.run(this.fetching, { open: () => undefined, frames }).then(() => {
      if (followed.late.get(tab)?.stream !== stream) return;
      setTimeout(() => {
        if (followed.late.get(tab)?.stream === stream) this.#catchUp(tab, followed);
      }, this.#patience.next());
    });
  }

  #change(): void {
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#open(), SETTLE_MS);
  }

  /** Open a stream of what is followed now; the one before ends when this one has begun. */
  #open(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#settle);
    this.#opening?.close();
    this.#opening = null;
    if (this.#logs.size === 0) {
      this.#stream?.close();
      this.#stream = null;
      return;
    }
    const wanted = [...this.#logs.values()].map((one) => [one.wanted.id, one.wanted] as const);
    const stream = new Stream(new Map(wanted));
    this.#opening = stream;
    let opened = 0;
    const open = () => {
      opened = Date.now();
      this.#stream?.close();
      this.#stream = stream;
      if (this.#opening === stream) this.#opening = null;
      this.#become("online");
    };
    const frames = (got: Frame[]) => this.#take(stream, got);
    void stream.run(this.fetching, { open, frames }).then((ending) => {
      if (opened > 0 && Date.now() - opened > GOOD_MS) this.#patience.reset();
      this.#ended(stream, ending);
    });
  }

  #ended(stream: Stream, ending: "ended" | "unauthorized" | "aborted"): void {
    if (stream !== this.#stream && stream !== this.#opening) return;
    if (stream === this.#stream) this.#stream = null;
    else this.#opening = null;
    if (ending === "unauthorized") {
      for (const tab of this.#tabs) tab.outbox.say({ say: "unauthorized" });
      this.#logs.clear();
      return;
    }
    if (this.#logs.size === 0 || ending === "aborted") return;
    // While the one before still runs, nobody has to know that the next could not be opened.
    if (this.#stream === null) this.#become("offline");
    if (this.#opening !== null) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#open(), this.#patience.next());
  }

  #wake(): void {
    if (this.#logs.size === 0 || this.#opening !== null) return;
    if (this.#stream === null) this.#open();
    else if (Date.now() - this.#stream.heard > DOUBT_MS) this.#stream.drop();
    else return;
    this.#patience.reset();
  }

  #take(stream: Stream, frames: Frame[]): void {
    for (const frame of frames) {
      const followed = frame.log === null ? undefined : this.#logs.get(frame.log);
      if (followed === undefined || frame.log === null) continue;
      const piece = pieceOf(frame.log, frame);
      if (piece.kind === "gone") this.#gone(followed, piece);
      else if (piece.kind === "snapshot") this.#snapshot(stream, followed, frame, piece);
      else this.#event(followed, frame, piece);
    }
  }

  #event(followed: Followed, frame: Frame, piece: Piece): void {
    const { cursor } = followed.wanted;
    const seq = frame.id ?? 0;
    // Two streams overlap while one takes over from the other.
    if (cursor === null || seq !== cursor + 1) return;
    followed.wanted = { ...followed.wanted, cursor: seq };
    for (const tab of followed.tabs) tab.outbox.add(piece);
    for (const late of followed.late.values()) late.held.push({ seq, piece });
    if (frame.event === "session.deleted" && followed.wanted.kind === "session") {
      this.#logs.delete(followed.wanted.id);
    }
  }

  #snapshot(stream: Stream, followed: Followed, frame: Frame, piece: Piece): void {
    const { id, cursor } = followed.wanted;
    // Asked for twice, as the set changed before the first came: the first is as good.
    if (stream.logs.get(id)?.cursor === null && cursor !== null) return;
    followed.wanted = { ...followed.wanted, cursor: frame.id };
    for (const [tab, late] of followed.late) {
      late.stream.close();
      followed.tabs.add(tab);
    }
    followed.late.clear();
    for (const tab of followed.tabs) tab.outbox.add(piece);
  }

  #gone(followed: Followed, piece: Piece): void {
    for (const late of followed.late.values()) late.stream.close();
    for (const tab of [...followed.tabs, ...followed.late.keys()]) tab.outbox.add(piece);
    this.#logs.delete(followed.wanted.id);
  }

  #become(state: LinkState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#since = Date.now();
    for (const tab of this.#tabs) tab.outbox.say({ say: "state", state, since: this.#since });
  }
}

function pieceOf(log: string, frame: Frame): Piece {
  const special = frame.event === "snapshot" || frame.event === "gone";
  return { log, kind: special ? (frame.event as "snapshot" | "gone") : "event", data: frame.data };
}

/** One HTTP response of many logs, read frame by frame until it ends. */

import { FrameParser, type Frame } from "$/link/sse";
import type { Wanted } from "./protocol";

/** The server says something at least every ten seconds. */
export const SILENCE_MS = 25_000;
/** A snapshot has at most this many messages; older ones are asked for when someone scrolls. */
const MESSAGES = 60;

export type Ending = "ended" | "unauthorized" | "aborted";

export interface Hears {
  open(): void;
  frames(frames: Frame[]): void;
}

export class Stream {
  /** When the last byte came. */
  heard = Date.now();
  #abort = new AbortController();
  #closed = false;
  #watchdog: ReturnType<typeof setTimeout> | undefined;

  /** `logs`: what it was opened with, by id. */
  constructor(readonly logs: ReadonlyMap<string, Wanted>) {}

  async run(fetching: typeof fetch, hears: Hears): Promise<Ending> {
    try {
      this.#alive();
      const headers = { Accept: "text/event-stream" };
      const answer = await fetching(address(this.logs), { headers, signal: this.#abort.signal });
      if (answer.status === 401) return "unauthorized";
      if (!answer.ok || answer.body === null) return "ended";
      this.#alive();
      hears.open();
      await this.#read(answer.body, hears);
    } catch {
      // A broken connection is an end like any other: whoever reads goes on from its cursor.
    } finally {
      clearTimeout(this.#watchdog);
    }
    return this.#closed ? "aborted" : "ended";
  }

  close(): void {
    this.#closed = true;
    this.#abort.abort();
  }

  /** Give it up, so that it is opened again. */
  drop(): void {
    this.#abort.abort();
  }

  async #read(body: ReadableStream<Uint8Array>, hears: Hears): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const parser = new FrameParser();
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      this.#alive();
      const frames = parser.push(decoder.decode(value, { stream: true }));
      if (frames.length > 0) hears.frames(frames);
    }
  }

  #alive(): void {
    this.heard = Date.now();
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.drop(), SILENCE_MS);
  }
}

function address(logs: ReadonlyMap<string, Wanted>): string {
  const query = new URLSearchParams();
  for (const { kind, id, cursor } of logs.values()) query.append(kind, `${id}:${cursor ?? "now"}`);
  query.append("messages", String(MESSAGES));
  return `/api/events?${query.toString()}`;
}

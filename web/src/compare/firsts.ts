/** When the first piece of a run came, for runs that ended before this page was opened. */

import { FrameParser } from "$/link/sse";
import type { Event } from "$/wire/types";
import { isPiece } from "./pace";

/** Reads the run's own stream up to its first piece; null: it has none, or cannot be read. */
export async function firstPieceAt(runId: string): Promise<string | null> {
  const abort = new AbortController();
  try {
    const headers = { Accept: "text/event-stream" };
    const path = `/api/runs/${encodeURIComponent(runId)}/events`;
    const answer = await fetch(path, { headers, signal: abort.signal });
    if (!answer.ok || answer.body === null) return null;
    return await search(answer.body);
  } catch {
    return null;
  } finally {
    abort.abort();
  }
}

async function search(body: ReadableStream<Uint8Array>): Promise<string | null> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new FrameParser();
  while (true) {
    const { done, value } = await reader.read();
    if (done) return null;
    for (const frame of parser.push(decoder.decode(value, { stream: true }))) {
      if (frame.event === "snapshot") continue;
      const event = JSON.parse(frame.data) as Event;
      if (isPiece(event)) return event.at;
    }
  }
}

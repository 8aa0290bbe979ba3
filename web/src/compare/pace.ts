/** How quick an answer was, from what the log says of it. */

import type { Event, Run } from "$/wire/types";

export interface Pace {
  /** Seconds from the start to the first piece of the answer; null: not known (yet). */
  first: number | null;
  /** Tokens a second from then to the end; null until it has ended. */
  speed: number | null;
}

/** Shorter than this, a rate says more about the clock than about the model. */
const SHORTEST_S = 0.05;

/** Whether the event is a piece of an answer: text, thoughts, or a tool call. */
export function isPiece(event: Event): boolean {
  return event.type === "part.delta" || (event.type === "part.started" && isTool(event));
}

function isTool(event: Event & { type: "part.started" | "part.updated" }): boolean {
  return event.part.type === "tool";
}

export function paceOf(run: Run, firstAt: string | null): Pace {
  if (firstAt === null || run.started_at === null) return { first: null, speed: null };
  const first = seconds(run.started_at, firstAt);
  if (run.finished_at === null) return { first, speed: null };
  const writing = seconds(firstAt, run.finished_at);
  const tokens = run.usage.output_tokens;
  return { first, speed: tokens > 1 && writing >= SHORTEST_S ? tokens / writing : null };
}

function seconds(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);
}

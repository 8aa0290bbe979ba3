/** That a run waits for its provider, and until when, in words. */

import { duration, timeOfDay } from "$/ui/format";
import type { Waiting } from "$/wire/types";

export interface Delay {
  /** A sentence: what the provider said. */
  why: string;
  when: string;
}

export function delayOf({ reason, attempt, until }: Waiting, now: number): Delay {
  if (until === null) return { why: reason, when: "" };
  const seconds = Math.ceil((Date.parse(until) - now) / 1000);
  const which = `(attempt ${attempt})`;
  const why = reason.trim().replace(/\.*$/, ".");
  if (seconds <= 0) return { why, when: `Trying again now ${which}.` };
  const left = seconds < 60 ? `${seconds} s` : duration(seconds);
  return { why, when: `Trying again at ${timeOfDay(until)} ${which}, in ${left}.` };
}

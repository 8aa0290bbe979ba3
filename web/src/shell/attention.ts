import type { Session } from "$/wire/types";
import { needsYou } from "./groups";

type Seen = "idle" | "running" | "asking";

export interface Happened {
  session: Session;
  what: "ended" | "asks";
}

/** Notices, from one look at the sessions to the next, which ended and which began to ask. */
export class Watcher {
  #seen = new Map<string, Seen>();

  look(sessions: readonly Session[]): Happened[] {
    const happened: Happened[] = [];
    const now = new Map<string, Seen>();
    for (const session of sessions) {
      const is = stateOf(session);
      const was = this.#seen.get(session.id);
      now.set(session.id, is);
      // A session never looked at before is news to this page only, not to anyone.
      if (was === undefined || was === is) continue;
      if (is === "asking") happened.push({ session, what: "asks" });
      if (is === "idle") happened.push({ session, what: "ended" });
    }
    this.#seen = now;
    return happened;
  }
}

function stateOf(session: Session): Seen {
  if (needsYou(session)) return "asking";
  return session.state === "running" ? "running" : "idle";
}

/** What a screen reader is told when the open conversation goes from one state to the next. */
export interface Moment {
  session: string;
  run: string | null;
  /** How the run of the moment before has ended, once it has. */
  ending: string | null;
  asks: number;
  /** Questions that wait for an answer. */
  questions: number;
  /** Why the run does nothing now but wait for its provider. */
  waits: string | null;
}

export function spoken(before: Moment | null, after: Moment): string | null {
  const known = before?.session === after.session ? before : null;
  // Also to whoever has just come: an answer that does not begin needs a reason.
  if (after.waits !== null && (known === null || known.waits === null))
    return `${after.waits} The provider is asked again.`;
  if (known === null) return null;
  if (after.asks > known.asks) return "Needs your approval";
  if (after.questions > known.questions) return "Has a question for you";
  if (known.run === null || known.run === after.run) return null;
  if (after.ending === "completed") return "Answer finished";
  if (after.ending === "cancelled") return "Answer stopped";
  if (after.ending === "interrupted")
    return "The answer was interrupted. What was written is saved.";
  return after.ending === "failed" ? "The answer failed" : null;
}

/** The tab's title: how many wait for you, where you are, and the name. */
export function tabTitle(place: string | null, waiting: number): string {
  const count = waiting > 0 ? `(${waiting}) ` : "";
  return place ? `${count}${place} · Tenuto` : `${count}Tenuto`;
}

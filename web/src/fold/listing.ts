/** The fold of a workspace's log: its sessions, newest activity first. */

import { sessionAfter } from "$/fold/session";
import type { Event, Session, WorkspaceSnapshot } from "$/wire/types";

/** A session that was asked for may already show events that are still on their way to us. */
const UNSURE_MS = 3_000;

/** `ask`: only the server can say how the session is now. */
export type Heard = "seen" | "applied" | "ask" | "torn";

export class Listing {
  head: number | null = null;
  /** Cursor of the next page; null: everything is here. */
  next: string | null = null;
  #sessions = new Map<string, Session>();
  #unsureUntil = new Map<string, number>();

  replace(snapshot: WorkspaceSnapshot): void {
    this.head = snapshot.seq;
    this.next = snapshot.next;
    this.#unsureUntil.clear();
    this.#sessions = new Map(snapshot.sessions.map((session) => [session.id, session]));
  }

  /** Put sessions in that were asked for, as they were a moment ago. */
  put(sessions: Session[], now: number): void {
    for (const session of sessions) {
      this.#sessions.set(session.id, session);
      this.#unsureUntil.set(session.id, now + UNSURE_MS);
    }
  }

  forget(id: string): void {
    this.#sessions.delete(id);
    this.#unsureUntil.delete(id);
  }

  apply(event: Event, now: number): Heard {
    if (this.head === null || event.seq <= this.head) return "seen";
    // A deleted session takes its events along, so this log may have gaps.
    this.head = event.seq;
    if (event.type === "session.created") {
      if (!this.#sessions.has(event.session_id))
        this.#sessions.set(event.session_id, event.session);
      return "applied";
    }
    if (event.type === "session.deleted") {
      this.forget(event.session_id);
      return "applied";
    }
    const session = this.#sessions.get(event.session_id);
    if (session === undefined || this.#isUnsure(event.session_id, now)) return "ask";
    this.#sessions.set(session.id, sessionAfter(session, event));
    return "applied";
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** What is not archived, newest activity first. */
  items(): Session[] {
    return [...this.#sessions.values()].filter((session) => !session.archived).sort(newestFirst);
  }

  #isUnsure(id: string, now: number): boolean {
    const until = this.#unsureUntil.get(id);
    if (until === undefined) return false;
    if (now < until) return true;
    this.#unsureUntil.delete(id);
    return false;
  }
}

export function newestFirst(a: Session, b: Session): number {
  if (a.updated_at !== b.updated_at) return a.updated_at < b.updated_at ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}

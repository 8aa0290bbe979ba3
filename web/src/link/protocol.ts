/** What tabs and the hub say to each other. */

export type LogKind = "session" | "workspace";

export interface Wanted {
  kind: LogKind;
  id: string;
  /** The last seq that the tab has; null: it needs a snapshot. */
  cursor: number | null;
}

export type ToHub =
  /** `lock` is held as long as the tab lives; null where there are no locks. */
  | { say: "hello"; lock: string | null }
  /** Follow this log for me, from there on. */
  | { say: "follow"; log: Wanted }
  | { say: "leave"; id: string }
  /** I am still here. */
  | { say: "alive" }
  /** The network is back, or someone looks again: do not wait. */
  | { say: "wake" }
  | { say: "bye" };

/** One event, not yet parsed: a text is cheaper to hand over than an object. */
export interface Piece {
  log: string;
  kind: "snapshot" | "event" | "gone";
  data: string;
}

export type LinkState = "connecting" | "online" | "offline";

export type ToTab =
  | { say: "pieces"; pieces: Piece[] }
  | { say: "state"; state: LinkState; since: number }
  | { say: "unauthorized" }
  /** The hub had taken you for gone: say again what you follow. */
  | { say: "who" };

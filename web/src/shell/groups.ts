import type { Session } from "$/wire/types";

export type GroupName =
  "Running" | "Needs you" | "Pinned" | "Today" | "Yesterday" | "Previous 7 days" | "Older";

export type Row =
  | { kind: "heading"; key: string; label: string }
  | { kind: "session"; key: string; session: Session };

const ORDER: GroupName[] = [
  "Running",
  "Needs you",
  "Pinned",
  "Today",
  "Yesterday",
  "Previous 7 days",
  "Older",
];

const DAY_MS = 24 * 60 * 60 * 1000;

/** What a session is doing comes before what it is pinned as, and that before when it was. */
export function groupOf(session: Session, now: number): GroupName {
  if (needsYou(session)) return "Needs you";
  if (session.state === "running") return "Running";
  if (session.pinned) return "Pinned";
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const at = Date.parse(session.updated_at);
  if (at >= midnight) return "Today";
  // Half a day of slack, so that days of 23 and 25 hours fall on the right side.
  if (at >= new Date(midnight - DAY_MS / 2).setHours(0, 0, 0, 0)) return "Yesterday";
  if (at >= new Date(midnight - 6.5 * DAY_MS).setHours(0, 0, 0, 0)) return "Previous 7 days";
  return "Older";
}

export function needsYou(session: Session): boolean {
  const { state, waiting_approvals, waiting_questions } = session;
  return state === "waiting" || waiting_approvals > 0 || waiting_questions > 0;
}

/** The sidebar's lines: the sessions in the order they came, under the heading of their group. */
export function rowsOf(sessions: readonly Session[], now: number): Row[] {
  const groups = new Map<GroupName, Session[]>(ORDER.map((name) => [name, []]));
  for (const session of sessions) groups.get(groupOf(session, now))?.push(session);
  return [...groups].flatMap(([label, members]) =>
    members.length === 0
      ? []
      : [
          { kind: "heading" as const, key: `group ${label}`, label },
          ...members.map((session) => ({ kind: "session" as const, key: session.id, session })),
        ],
  );
}

/** The session before or after one, in the order in which the sidebar shows them. */
export function neighbour(rows: readonly Row[], id: string | null, step: 1 | -1): string | null {
  const ids = rows.flatMap((row) => (row.kind === "session" ? [row.session.id] : []));
  const at = id === null ? -1 : ids.indexOf(id);
  if (at === -1) return (step === 1 ? ids[0] : ids.at(-1)) ?? null;
  return ids[at + step] ?? null;
}

/** Where a key pressed on one row moves to; null when the key does not move. */
export function neighbourRow(rows: readonly Row[], id: string, key: string): string | null {
  if (key === "ArrowDown") return neighbour(rows, id, 1) ?? id;
  if (key === "ArrowUp") return neighbour(rows, id, -1) ?? id;
  if (key === "Home") return neighbour(rows, null, 1);
  if (key === "End") return neighbour(rows, null, -1);
  return null;
}

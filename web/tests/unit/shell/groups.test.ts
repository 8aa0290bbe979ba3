import { expect, test } from "vitest";
import { groupOf, neighbour, rowsOf } from "$/shell/groups";
import type { Session } from "$/wire/types";
import { usage } from "../fixtures";

const NOW = new Date(2026, 10, 15, 9, 30).getTime();

function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    workspace_id: "default",
    by: "owner",
    title: id,
    title_source: "user",
    model: null,
    system: null,
    pinned: false,
    archived: false,
    draft: "",
    created_at: "2026-11-01T00:00:00.000Z",
    updated_at: new Date(NOW).toISOString(),
    head: 1,
    state: "idle",
    active_run: null,
    queued: 0,
    waiting_approvals: 0,
    waiting_questions: 0,
    grants: [],
    comparison: null,
    usage: usage(),
    ...more,
  };
}

function at(day: number, hour: number, minute = 0): Partial<Session> {
  return { updated_at: new Date(2026, 10, day, hour, minute).toISOString() };
}

test.each([
  [at(15, 0, 0), "Today"],
  [at(14, 23, 59), "Yesterday"],
  [at(14, 0, 0), "Yesterday"],
  [at(13, 23, 59), "Previous 7 days"],
  [at(8, 0, 0), "Previous 7 days"],
  [at(7, 23, 59), "Older"],
])("%o is in %s", (more, group) => {
  expect(groupOf(session("a", more), NOW)).toBe(group);
});

test("what asks for you comes before what runs, and that before pins and dates", () => {
  const asks = { state: "running", waiting_approvals: 1, pinned: true } as const;
  expect(groupOf(session("a", asks), NOW)).toBe("Needs you");
  expect(groupOf(session("a", { state: "waiting" }), NOW)).toBe("Needs you");
  expect(groupOf(session("a", { state: "running", pinned: true }), NOW)).toBe("Running");
  expect(groupOf(session("a", { pinned: true, ...at(1, 0) }), NOW)).toBe("Pinned");
});

test("groups stand in their order, only those that have members, each in the order given", () => {
  const rows = rowsOf(
    [session("old", at(1, 0)), session("b"), session("a"), session("run", { state: "running" })],
    NOW,
  );
  expect(rows.map((row) => (row.kind === "heading" ? `# ${row.label}` : row.session.id))).toEqual([
    "# Running",
    "run",
    "# Today",
    "b",
    "a",
    "# Older",
    "old",
  ]);
});

test("the neighbour is the one the sidebar shows next to it", () => {
  const rows = rowsOf([session("a"), session("b"), session("run", { state: "running" })], NOW);
  expect(neighbour(rows, "run", 1)).toBe("a");
  expect(neighbour(rows, "a", -1)).toBe("run");
  expect(neighbour(rows, "b", 1)).toBeNull();
  expect(neighbour(rows, null, 1)).toBe("run");
  expect(neighbour([], "a", 1)).toBeNull();
});

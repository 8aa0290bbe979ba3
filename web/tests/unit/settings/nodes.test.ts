import { describe, expect, test } from "vitest";
import { delayOf } from "$/conversation/delay";
import { inOrder, standingOf } from "$/settings/node";
import type { ServerNode } from "$/wire/settings";
import { homes, homeWords } from "$/workspaces/home";

function node(changes: Partial<ServerNode>): ServerNode {
  return {
    id: `node_${changes.name ?? "left"}`,
    name: "left",
    version: "1.0.0",
    state: "alive",
    started_at: "2026-01-01T00:00:00.000Z",
    seen_at: "2026-01-01T00:00:00.000Z",
    active_runs: 0,
    ...changes,
  };
}

describe("nodes", () => {
  test("each says in words how it is and what it does", () => {
    expect(standingOf(node({}))).toMatchObject({ word: "alive", kind: "good", doing: "idle" });
    expect(standingOf(node({ active_runs: 1 })).doing).toBe("1 active run");
    expect(standingOf(node({ state: "draining", active_runs: 2 }))).toMatchObject({
      kind: "warm",
      doing: "2 active runs, and takes no more",
    });
    expect(standingOf(node({ state: "gone", active_runs: 9 }))).toMatchObject({
      kind: "plain",
      doing: "others have taken over",
    });
  });

  test("those that answer come first, and one that was restarted comes once", () => {
    const before = node({ id: "old", name: "right", state: "gone" });
    const now = node({ id: "new", name: "right", started_at: "2026-01-02T00:00:00.000Z" });
    const gone = node({ name: "a", state: "gone" });
    const shown = inOrder([before, gone, now, node({})]);
    expect(shown.map((one) => one.id)).toEqual(["node_left", "new", "node_a"]);
  });
});

describe("homes", () => {
  test("a folder is shared or on a node, also on one that is away", () => {
    expect(homes([{ name: "right" }, { name: "left" }], null)).toEqual(["shared", "left", "right"]);
    expect(homes([], "gone")).toEqual(["shared", "gone"]);
    expect(homeWords("shared")).toBe("Shared by all nodes");
    expect(homeWords("left")).toBe("On the node left");
  });

  test("nobody knows when a node is back", () => {
    const waiting = { reason: "node_away", attempt: 0, until: null };
    expect(delayOf(waiting, 0)).toEqual({ why: "node_away", when: "" });
  });
});

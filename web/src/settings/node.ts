/** What a node's entry means, in words. */

import { plural } from "$/ui/format";
import type { ServerNode } from "$/wire/settings";

export interface Standing {
  word: string;
  kind: "good" | "warm" | "plain";
  /** What it does now, or what that means. */
  doing: string;
}

export function standingOf(node: ServerNode): Standing {
  const runs = node.active_runs === 0 ? "idle" : plural(node.active_runs, "active run");
  switch (node.state) {
    case "alive":
      return { word: "alive", kind: "good", doing: runs };
    case "draining":
      return { word: "draining", kind: "warm", doing: `${runs}, and takes no more` };
    case "gone":
      return { word: "gone", kind: "plain", doing: "others have taken over" };
  }
}

/** Those that answer first, then by name; of one that was restarted, only how it is now. */
export function inOrder(nodes: ServerNode[]): ServerNode[] {
  const newest = new Map<string, ServerNode>();
  for (const node of nodes) {
    const known = newest.get(node.name);
    if (!known || known.started_at < node.started_at) newest.set(node.name, node);
  }
  const rank = { alive: 0, draining: 1, gone: 2 };
  return [...newest.values()].sort(
    (a, b) => rank[a.state] - rank[b.state] || a.name.localeCompare(b.name),
  );
}

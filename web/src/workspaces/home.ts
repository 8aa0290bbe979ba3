/** Where a workspace's folder is, where several nodes share the server's database. */

export const SHARED = "shared";

export function homeWords(home: string): string {
  return home === SHARED ? "Shared by all nodes" : `On the node ${home}`;
}

/** What may be chosen: shared, each node by its name, and what was chosen before. */
export function homes(nodes: { name: string }[], chosen: string | null): string[] {
  const names = nodes.map((node) => node.name).sort();
  return [...new Set([SHARED, ...names, ...(chosen === null ? [] : [chosen])])];
}

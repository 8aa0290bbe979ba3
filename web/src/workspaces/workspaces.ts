/** The calls for workspaces; the page's own list follows each change. */

import { api } from "$/link/http";
import { app } from "$/state/page";
import type { NodeList, ServerNode } from "$/wire/settings";
import type { Rule, Workspace } from "$/wire/types";

interface Given {
  name: string;
  path: string;
  /** Only where several nodes share the server's database. */
  home?: string;
}

export async function createWorkspace(given: Given): Promise<Workspace> {
  const made = await api.post<Workspace>("/api/workspaces", given);
  await app.refreshWorkspaces();
  return made;
}

export async function changeWorkspace(id: string, given: Given): Promise<void> {
  await api.patch<Workspace>(`/api/workspaces/${encodeURIComponent(id)}`, given);
  await app.refreshWorkspaces();
}

/** All of its rules, in their order. */
export async function setRules(id: string, rules: Rule[]): Promise<void> {
  await api.patch<Workspace>(`/api/workspaces/${encodeURIComponent(id)}`, { rules });
  await app.refreshWorkspaces();
}

export async function removeWorkspace(id: string): Promise<void> {
  await api.delete(`/api/workspaces/${encodeURIComponent(id)}`);
  await app.refreshWorkspaces();
}

/** The nodes that a folder can be on. */
export async function liveNodes(): Promise<ServerNode[]> {
  const { nodes } = await api.get<NodeList>("/api/nodes");
  return nodes.filter((node) => node.state !== "gone");
}

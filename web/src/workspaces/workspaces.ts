/** The calls for workspaces; the page's own list follows each change. */

import { api } from "$/link/http";
import { app } from "$/state/page";
import type { Workspace } from "$/wire/types";

interface Given {
  name: string;
  path: string;
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

export async function removeWorkspace(id: string): Promise<void> {
  await api.delete(`/api/workspaces/${encodeURIComponent(id)}`);
  await app.refreshWorkspaces();
}

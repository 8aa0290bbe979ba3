/** The calls for the server's settings. */

import { api } from "$/link/http";
import type {
  ServerSettings,
  SettingsChange,
  Provider,
  About,
  McpDraft,
  McpList,
  McpNow,
  NodeList,
  ProviderDraft,
  ProviderList,
  ProviderTry,
  TestResult,
} from "$/wire/settings";

export const settings = {
  read: () => api.get<ServerSettings>("/api/settings"),
  change: (changes: SettingsChange) => api.patch<ServerSettings>("/api/settings", changes),
};

export const providers = {
  /** Those that there are, and those that can be added by name. */
  list: () => api.get<ProviderList>("/api/providers"),
  put: (name: string, draft: ProviderDraft) =>
    api.put<Provider>(`/api/providers/${encodeURIComponent(name)}`, draft),
  remove: (name: string) => api.delete(`/api/providers/${encodeURIComponent(name)}`),
  test: (draft: ProviderTry) => api.post<TestResult>("/api/providers/test", draft),
};

export const mcp = {
  list: (workspace: string) =>
    api.get<McpList>(`/api/mcp?workspace=${encodeURIComponent(workspace)}`),
  put: (name: string, draft: McpDraft) =>
    api.put<McpNow>(`/api/mcp/${encodeURIComponent(name)}`, draft),
  remove: (name: string) => api.delete(`/api/mcp/${encodeURIComponent(name)}`),
  restart: (name: string, workspace: string) =>
    api.post<McpNow>(`/api/mcp/${encodeURIComponent(name)}/restart`, { workspace }),
  /** Let the workspace's own file count as it is, or no more. */
  allow: (workspace: string, hash: string | null) =>
    api.put<unknown>(`/api/workspaces/${encodeURIComponent(workspace)}/mcp`, { hash }),
};

export const nodes = {
  /** The servers that share the database; one where nothing is shared. */
  list: () => api.get<NodeList>("/api/nodes"),
};

export const about = { read: () => api.get<About>("/api/about") };

export const models = {
  /** Asks every provider again; takes as long as the slowest of them. */
  refresh: () => api.post<unknown>("/api/models/refresh"),
};

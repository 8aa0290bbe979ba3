/** The calls for the server's settings. */

import { api } from "$/link/http";
import type {
  ServerSettings,
  SettingsChange,
  Provider,
  About,
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

export const nodes = {
  /** The servers that share the database; one where nothing is shared. */
  list: () => api.get<NodeList>("/api/nodes"),
};

export const about = { read: () => api.get<About>("/api/about") };

export const models = {
  /** Asks every provider again; takes as long as the slowest of them. */
  refresh: () => api.post<unknown>("/api/models/refresh"),
};

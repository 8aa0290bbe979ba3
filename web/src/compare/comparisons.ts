/** The calls for comparisons. */

import { api } from "$/link/http";
import type { Winner, Comparison, NewComparison, Scoreboard } from "$/wire/comparisons";
import type { Session } from "$/wire/types";

const at = (id: string, what = ""): string => `/api/comparisons/${encodeURIComponent(id)}${what}`;

export const comparisons = {
  create: (made: NewComparison) => api.post<Comparison>("/api/comparisons", made),
  list: (query: { workspace?: string; cursor?: string; limit?: number }) =>
    api.get<{ comparisons: Comparison[]; next: string | null }>("/api/comparisons", query),
  read: (id: string) => api.get<Comparison>(at(id)),
  vote: (id: string, winner: Winner) => api.post<Comparison>(at(id, "/vote"), { winner }),
  keep: (id: string, index: number) => api.post<Session>(at(id, "/keep"), { index }),
  remove: (id: string) => api.delete(at(id)),
  scoreboard: () => api.get<Scoreboard>("/api/comparisons/scoreboard"),
  runsPath: (id: string) => at(id, "/runs"),
};

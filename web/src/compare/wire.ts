/** Comparisons as they are on the wire, and the calls for them. */

import { api } from "$/link/http";
import type { Session } from "$/wire/types";

export type Winner = number | "tie" | "none";

export interface ShownPane {
  index: number;
  label: string;
  session_id: string;
  /** null: hidden until the vote. */
  model: string | null;
  state: "open" | "kept" | "deleted";
}

export interface Comparison {
  id: string;
  workspace_id: string;
  title: string;
  mode: "agent" | "chat";
  blind: boolean;
  voted: boolean;
  winner: Winner | null;
  voted_at: string | null;
  created_at: string;
  panes: ShownPane[];
}

export interface NewComparison {
  models: string[];
  blind: boolean;
  workspace: string;
  mode: "agent" | "chat";
}

export interface Standing {
  model: string;
  games: number;
  wins: number;
  ties: number;
  losses: number;
  rating: number;
  /** The rating is between these, as 95 of 100 such claims are. */
  interval: [number, number];
}

export interface Scoreboard {
  votes: number;
  models: Standing[];
}

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

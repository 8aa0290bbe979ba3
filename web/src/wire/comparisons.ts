/** Comparisons as they are on the wire. */

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

import type { Icon } from "$/ui/icon";
import { fuzzy, pieces, type Piece } from "./fuzzy";

/** One line of the palette. */
export interface Command {
  id: string;
  group: string;
  label: string;
  run: () => void;
  icon?: Icon | undefined;
  /** Said at the end of the line, in grey; not searched. */
  hint?: string | undefined;
  keys?: string | undefined;
  /** Other words under which one may look for it. */
  words?: string | undefined;
  /** Already found by somebody else (the server's search): always stays. */
  sure?: boolean | undefined;
}

export interface Ranked extends Command {
  pieces: Piece[];
}

export interface RankedGroup {
  group: string;
  items: Ranked[];
}

/** Lines of one group that are shown before anything is typed, and after. */
const SHORT = 5;
const LONG = 8;

/** The commands that fit, best first within their group, the group of the best fit first. */
export function rank(commands: readonly Command[], query: string): RankedGroup[] {
  const asked = query.trim() !== "";
  const groups = new Map<string, { best: number; items: (Ranked & { score: number })[] }>();
  for (const command of commands) {
    const fit = fitOf(command, query);
    if (!fit) continue;
    const group = groups.get(command.group) ?? { best: -Infinity, items: [] };
    group.best = Math.max(group.best, fit.score);
    group.items.push({ ...command, ...fit });
    groups.set(command.group, group);
  }
  const all = [...groups].map(([group, { best, items }]) => ({ group, best, items }));
  if (asked) all.sort((a, b) => b.best - a.best);
  return all.map(({ group, items }) => ({
    group,
    items: (asked ? items.toSorted((a, b) => b.score - a.score) : items).slice(
      0,
      asked ? LONG : SHORT,
    ),
  }));
}

function fitOf(command: Command, query: string): { score: number; pieces: Piece[] } | null {
  const match = fuzzy(query, command.label);
  if (match) return { score: match.score, pieces: pieces(command.label, match.at) };
  const plain = [{ text: command.label, hit: false }];
  const other = command.words ? fuzzy(query, command.words) : null;
  // Found by another word is found, but what has the word in its name comes first.
  if (other) return { score: other.score / 2 - 10, pieces: plain };
  return command.sure ? { score: -50, pieces: plain } : null;
}

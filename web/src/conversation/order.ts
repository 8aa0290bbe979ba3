/** What the order of the messages says about each of them. */

export interface Placed {
  id: string;
  run_id: string | null;
  role: "user" | "assistant";
}

export interface Order {
  /** The last answer of each run. */
  endsRun: ReadonlySet<string>;
  /** Prompts given to a run that was at work. */
  steered: ReadonlySet<string>;
  lastPrompt: string | null;
  lastRun: string | null;
}

export function orderOf(messages: readonly Placed[]): Order {
  const ends = new Map<string, string>();
  const begun = new Set<string>();
  const steered = new Set<string>();
  let lastPrompt: string | null = null;
  for (const { id, run_id, role } of messages) {
    // Answers of a fork belong to no run of it; each stands for itself.
    if (role === "assistant") ends.set(run_id ?? id, id);
    if (role === "user") lastPrompt = id;
    if (run_id === null) continue;
    if (role === "user" && begun.has(run_id)) steered.add(id);
    begun.add(run_id);
  }
  const lastRun = messages.at(-1)?.run_id ?? null;
  return { endsRun: new Set(ends.values()), steered, lastPrompt, lastRun };
}

/** Whether only the beginning of a list has changed: what is read must then stay where it is. */
export function changedAtStart(before: readonly Keyed[], after: readonly Keyed[]): boolean {
  if (before.length === 0 || after.length === 0 || before.length === after.length) return false;
  return before[0]?.id !== after[0]?.id && before.at(-1)?.id === after.at(-1)?.id;
}

interface Keyed {
  id: string;
}

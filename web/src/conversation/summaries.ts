/** Where the marks stand that say what the model has only as a summary. */

import type { Compaction, Message } from "$/wire/types";

export interface Summaries {
  /** By the id of the part that each stands after. */
  inside: ReadonlyMap<string, string>;
  /** Of the whole message; null: there is none. */
  after: string | null;
}

/** The summaries that end with this message, or in it. */
export function summariesOf(message: Message, compactions: readonly Compaction[]): Summaries {
  const here = compactions.filter((one) => one.through_message_id === message.id);
  const parts = new Set(message.parts.map((part) => part.id));
  const inside = new Map<string, string>();
  let after: string | null = null;
  for (const { through_part_id, summary } of here) {
    if (through_part_id !== null && parts.has(through_part_id))
      inside.set(through_part_id, summary);
    else after = summary;
  }
  return { inside, after };
}

import type { Compaction, Message, Model, Part, Run } from "$/wire/types";

const CHARACTERS_PER_TOKEN = 4;

export interface ContextUse {
  tokens: number;
  window: number | null;
  /** "about": counted from the text; "at least": older messages are not loaded here. */
  how: "exact" | "about" | "at least";
}

export interface Said {
  messages: readonly Message[];
  runs: ReadonlyMap<string, Run>;
  compactions: readonly Compaction[];
  /** There are older messages that are not loaded. */
  more: boolean;
}

/** How much of the model's window the next prompt begins with. */
export function contextUse(said: Said, model: Model | undefined): ContextUse {
  const window = model?.context_window || null;
  const last = said.messages.findLast((message) => message.role === "assistant");
  const run = last && said.runs.get(last.run_id ?? "");
  // One request: what it read and wrote is what the next one reads.
  const single = run && last && !last.parts.some((part) => part.type === "tool") && !run.continues;
  const compacted = said.compactions.at(-1);
  const after = compacted
    ? said.messages.findIndex((message) => message.id === compacted.through_message_id)
    : -1;
  if (single && run.mode !== "compact" && run.usage.exact && run.usage.input_tokens > 0) {
    const isNewest = said.messages.at(-1) === last && after < said.messages.length - 1;
    if (isNewest) {
      return { tokens: run.usage.input_tokens + run.usage.output_tokens, window, how: "exact" };
    }
  }
  const rest = said.messages.slice(after + 1).flatMap((message) => message.parts);
  const characters = [...kept(said.messages[after], compacted), ...rest].reduce(
    (sum, part) => sum + size(part),
    0,
  );
  const summary = compacted?.summary.length ?? 0;
  const tokens = Math.ceil((characters + summary) / CHARACTERS_PER_TOKEN);
  return { tokens, window, how: said.more && after < 0 && !compacted ? "at least" : "about" };
}

/** The parts of the message in which a summary ends that are still told as they are. */
function kept(message: Message | undefined, compacted: Compaction | undefined): readonly Part[] {
  if (message === undefined || !compacted?.through_part_id) return [];
  const last = message.parts.findIndex((part) => part.id === compacted.through_part_id);
  return last < 0 ? [] : message.parts.slice(last + 1);
}

function size(part: Part): number {
  switch (part.type) {
    case "text":
      return part.text.length;
    case "reasoning":
    case "file":
      return 0;
    case "tool":
      return part.input_text.length + (part.output?.length ?? 0) + (part.error?.length ?? 0);
  }
}

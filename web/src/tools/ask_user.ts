/** `ask_user` asks the person; what they said is kept with the call. */

import type { ToolPart } from "$/wire/types";
import { foreign } from "./foreign";
import type { AskedItem, Tool } from "./tool";

export const ask_user: Tool = {
  ...foreign,
  about: "Asks you what only you can decide, and waits for your answer.",
  line: (part) => ({ text: questionsOf(part)[0] ?? "", kind: "words" }),
  body: (part) => {
    const items = askedItems(part);
    return items.length > 0 ? { kind: "asked", items, ...outcome(part) } : { kind: "other" };
  },
};

function askedItems(part: ToolPart): AskedItem[] {
  const said = part.details?.["answers"];
  const answers = Array.isArray(said) ? said : [];
  return questionsOf(part).map((question, at) => ({ question, answers: texts(answers[at]) }));
}

function outcome(part: ToolPart): { instead: string | null; unanswered: string | null } {
  const reply = part.details?.["reply"];
  const answers = part.details?.["answers"];
  const first = Array.isArray(answers) ? texts(answers[0])[0] : undefined;
  return {
    instead: reply === "instead" ? (first ?? "") : null,
    unanswered:
      reply === "dismissed"
        ? "You did not answer."
        : reply === "nobody"
          ? "Nobody could be asked."
          : null,
  };
}

function questionsOf(part: ToolPart): string[] {
  const asked = part.input?.["questions"];
  if (!Array.isArray(asked)) return [];
  return asked.flatMap((one: unknown) =>
    typeof one === "object" && one !== null && "question" in one ? [String(one.question)] : [],
  );
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

import { toolOf } from "$/tools/known";
import type { Asked } from "$/tools/tool";

/** "Run: make test", for a line that has little room. */
export interface Short {
  text: string;
  kind: "code" | "words";
  /** Whether that is all of it: only then can it be allowed from there. */
  whole: boolean;
}

export function inShort(approval: Asked): Short {
  const { title, body } = toolOf(approval.tool).request(approval);
  if (body.kind === "command") {
    const line = oneLine(body.text);
    return { text: `Run: ${line}`, kind: "code", whole: line === body.text.trim() };
  }
  if (body.kind === "url") return { text: `Open: ${body.url}`, kind: "code", whole: true };
  return { text: title, kind: "words", whole: false };
}

function oneLine(text: string): string {
  const [first = "", ...rest] = text.trim().split("\n");
  return rest.length > 0 ? `${first} …` : first;
}

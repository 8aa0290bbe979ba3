/** What can be told of a sub-agent, from the call that it works for and from its own messages. */

import { toolOf } from "$/tools/known";
import type { Line } from "$/tools/tool";
import type { Approval, Message, Question, ToolPart } from "$/wire/types";

/** The session of the sub-agent that does the work of a call; null: it does it by itself. */
export function childOf(part: ToolPart): string | null {
  const id = part.details?.["session_id"];
  return part.name === "task" && typeof id === "string" ? id : null;
}

/** Whether a request belongs where this call stands: it is the call's own, or its sub-agent's. */
export function isAskedBy(request: Approval | Question, part: ToolPart, session: string): boolean {
  if (request.session_id !== session) return request.session_id === childOf(part);
  return request.part_id === undefined
    ? request.call_id === part.call_id
    : request.part_id === part.id;
}

export interface Deed {
  part: ToolPart;
  line: Line;
}

/** The last calls of its newest answer, oldest first. */
export function lastDeeds(messages: readonly Message[], most: number): Deed[] {
  const answer = messages.findLast((message) => message.role === "assistant");
  const calls = (answer?.parts ?? []).filter((part) => part.type === "tool");
  return calls.slice(-most).map((part) => ({ part, line: toolOf(part.name).line(part) }));
}

/** What it said at last, without the line that is for the model. */
export function resultOf(output: string | null): string {
  return (output ?? "").replace(/\n*\[sub-agent: session \S+\]\s*$/, "").trim();
}

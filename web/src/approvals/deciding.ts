import { codeOf, explain } from "$/state/explain";
import { app } from "$/state/page";
import type { Conversation } from "$/state/conversation.svelte";
import type { Approval, Word } from "$/wire/types";

export type Outcome = "decided" | "answered elsewhere" | "failed";

export async function decide(
  conversation: Conversation,
  approval: Approval,
  word: Word,
): Promise<Outcome> {
  try {
    await conversation.decide(approval.id, word);
    return "decided";
  } catch (error) {
    if (codeOf(error) === "already_answered") {
      app.say(`Already answered elsewhere${answerOf(conversation, approval)}.`);
      return "answered elsewhere";
    }
    app.say(explain(error), { kind: "bad" });
    return "failed";
  }
}

/** The answer that came first, if it is known here yet. */
function answerOf(conversation: Conversation, { id }: Approval): string {
  const state = conversation.approvals.find((one) => one.id === id)?.state ?? "pending";
  return state === "allowed" || state === "denied" ? `: ${state}` : "";
}

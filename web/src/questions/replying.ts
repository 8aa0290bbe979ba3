import { codeOf, explain } from "$/state/explain";
import { app } from "$/state/page";
import type { Conversation } from "$/state/conversation.svelte";
import type { Question } from "$/wire/types";

/** Answers a question, or dismisses it (null). Somebody else may have been quicker. */
export async function reply(
  conversation: Conversation,
  question: Question,
  answers: string[][] | null,
): Promise<void> {
  try {
    await conversation.reply(question.id, answers);
  } catch (error) {
    if (codeOf(error) === "already_answered") app.say("Already answered elsewhere.");
    else app.say(explain(error), { kind: "bad" });
  }
}

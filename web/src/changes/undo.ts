/** Undo, and the offer to take back what the undone turn did to files. */

import { attempt } from "$/state/attempt";
import type { Conversation } from "$/state/conversation.svelte";
import { notices } from "$/state/page";
import { plural } from "$/ui/format";
import { changingRuns, outcome } from "./change";

const OFFER_SECONDS = 20;

export async function undo(conversation: Conversation): Promise<void> {
  const messages = conversation.rows.map((row) => row.message);
  const last = messages.findLastIndex((message) => message.role === "user");
  const runs = changingRuns(messages.slice(Math.max(0, last)));
  if (!(await attempt(() => conversation.undo()))) return;
  const found = await Promise.all(runs.map((id) => conversation.changes.load(id).catch(() => [])));
  const files = found.flat().filter((change) => change.state === "revertible");
  if (files.length === 0) return;
  const told = files.length === 1 ? `${files[0]?.path} is` : `${plural(files.length, "file")} are`;
  notices.say(`Undone. ${told} still as it left ${files.length === 1 ? "it" : "them"}.`, {
    seconds: OFFER_SECONDS,
    action: {
      label: files.length === 1 ? "Revert it" : "Revert them",
      do: () => void attempt(() => revertAll(conversation, runs)),
    },
  });
}

async function revertAll(conversation: Conversation, runs: string[]): Promise<void> {
  for (const id of runs)
    notices.say(outcome(await conversation.changes.move(id, "revert"), "revert"));
}

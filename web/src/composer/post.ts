import { inputOf, type Submission } from "./submission";
import { api } from "$/link/http";
import { app, route } from "$/state/page";
import type { Conversation } from "$/state/conversation.svelte";
import type { Effort } from "$/wire/types";

export interface Way {
  /** The submission knows more now: keep it. */
  changed: (submission: Submission) => void;
  signal: AbortSignal;
}

/** Send a prompt once; the same submission again is the same prompt. Resolves when it is accepted. */
export async function deliver(
  submission: Submission,
  conversation: Conversation | null,
  way: Way,
): Promise<void> {
  if (conversation === null) return begin(submission, way);
  const { signal } = way;
  const { key, mode, when_busy } = submission;
  const model = submission.model === null ? {} : { model: submission.model };
  const effort = effortOf(submission);
  const input = inputOf(submission);
  if (submission.edits !== null)
    await conversation.edit(submission.edits, input, { ...model, key, signal });
  else await conversation.send(input, { ...model, ...effort, mode, when_busy, key, signal });
}

/** The first prompt of a session that does not exist yet. */
async function begin(submission: Submission, { changed, signal }: Way): Promise<void> {
  const { key, mode, model } = submission;
  let id = submission.session_id;
  if (id === null) {
    id = (await app.sessions.create(model === null ? {} : { model }, `${key}-session`)).id;
    // Known before the prompt goes out: trying again must not leave empty sessions behind.
    changed({ ...submission, session_id: id });
  }
  if (signal.aborted) throw new Error("Given up.");
  const prompt = { input: inputOf(submission), mode, ...effortOf(submission) };
  await api.post(`/api/sessions/${id}/runs`, prompt, { key, signal });
  route.go(`/s/${id}`);
}

/** Nothing is said where nothing was chosen, nor by a prompt that an older page has kept. */
function effortOf({ effort }: Submission): { effort?: Effort } {
  return effort ? { effort } : {};
}

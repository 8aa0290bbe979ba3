import { toInput, type Enclosed } from "$/wire/input";
import type { Effort, Input, Mode, WhenBusy } from "$/wire/types";

/** A prompt on its way: everything needed to send it again exactly as it was. */
export interface Submission {
  key: string;
  text: string;
  files: Enclosed[];
  model: string | null;
  mode: Mode;
  /** null: as the model does by itself. */
  effort: Effort | null;
  when_busy: WhenBusy;
  /** The session that was made for it on the home page, once there is one. */
  session_id: string | null;
  /** The message that it takes the place of, when one is edited. */
  edits: string | null;
  at: number;
  /** Not to be sent by itself any more. */
  given_up?: boolean;
}

export type Sending =
  | { phase: "writing"; error: string | null; last: Submission | null }
  | { phase: "sending"; submission: Submission };

export type Wish = Omit<Submission, "key" | "at" | "session_id" | "given_up">;

export const WRITING: Sending = { phase: "writing", error: null, last: null };

/**
 * The next state when someone presses send. Null: nothing to do, because there is nothing to send
 * or the same press came twice.
 */
export function press(
  state: Sending,
  wish: Wish,
  newKey: () => string,
  now: number,
): Sending | null {
  if (state.phase === "sending") return null;
  if (wish.text.trim() === "" && wish.files.length === 0) return null;
  const again = state.last !== null && sameWish(state.last, wish) ? state.last : null;
  // The same prompt again after a failure may have arrived the first time: the key finds it.
  const submission = again ?? { ...wish, key: newKey(), session_id: null, at: now };
  return { phase: "sending", submission };
}

export function refused(state: Sending, error: string | null): Sending {
  if (state.phase === "writing") return state;
  return { phase: "writing", error, last: state.submission };
}

/**
 * Typing makes the error line go away. What was tried last stays known until the field is emptied:
 * the same words after that are meant as a new prompt.
 */
export function typed(state: Sending, text: string): Sending {
  if (state.phase === "sending") return state;
  const last = text.trim() === "" ? null : state.last;
  return state.error === null && state.last === last ? state : { ...state, error: null, last };
}

export function inputOf(submission: Submission): Input {
  return toInput(submission.text, submission.files);
}

function sameWish(a: Wish, b: Wish): boolean {
  return (
    a.text === b.text &&
    a.model === b.model &&
    a.mode === b.mode &&
    a.effort === b.effort &&
    a.when_busy === b.when_busy &&
    a.edits === b.edits &&
    a.files.length === b.files.length &&
    a.files.every((file, n) => file.file_id === b.files[n]?.file_id)
  );
}

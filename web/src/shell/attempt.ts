import { Problem } from "$/link/http";
import { app } from "$/state/app.svelte";

/** Waits for a call; what goes wrong is said in one quiet notice. */
export async function attempt<T>(call: Promise<T>, then?: (value: T) => void): Promise<void> {
  try {
    const value = await call;
    then?.(value);
  } catch (error) {
    app.say(reason(error), { kind: "bad" });
  }
}

export function reason(error: unknown): string {
  if (!(error instanceof Problem)) return "That did not work. Try again.";
  if (error.code === "offline") return "The server cannot be reached. Nothing was changed.";
  if (error.code === "session_busy") return "Wait for the answer to end, or stop it first.";
  if (error.code === "nothing_to_undo") return "There is nothing to undo.";
  return error.detail || "That did not work. Try again.";
}

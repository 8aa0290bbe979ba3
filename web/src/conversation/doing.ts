/** Does something on the server and says why if it does not work. */

import { explain } from "$/state/problem";
import { app } from "$/state/app.svelte";

export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (problem) {
    app.say(explain(problem), { kind: "bad" });
    return false;
  }
}

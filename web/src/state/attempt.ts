import { notices } from "$/state/page";
import { explain, type Wish } from "./explain";

/** Whether something on the server worked; if not, one quiet notice says why. */
export async function attempt(
  work: () => Promise<unknown>,
  wish: Wish = "action",
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    notices.say(explain(error, wish), { kind: "bad" });
    return false;
  }
}

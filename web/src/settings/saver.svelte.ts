/** What one control says of its own saving. */

import { explain } from "$/state/explain";

const SHOWN_MS = 2500;

export class Saver {
  state = $state<"idle" | "saving" | "saved" | "failed">("idle");
  error = $state<string | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #latest = 0;

  /** Runs the change; "Saved" is said only after it answered. False when it failed. */
  async save(change: () => Promise<unknown>): Promise<boolean> {
    const mine = ++this.#latest;
    clearTimeout(this.#timer);
    this.state = "saving";
    this.error = null;
    try {
      await change();
    } catch (error) {
      // Only the last of several quick changes speaks.
      if (mine === this.#latest) {
        this.state = "failed";
        this.error = explain(error, "form");
      }
      return false;
    }
    if (mine === this.#latest) this.#saved();
    return true;
  }

  #saved(): void {
    this.state = "saved";
    this.#timer = setTimeout(() => (this.state = "idle"), SHOWN_MS);
  }
}

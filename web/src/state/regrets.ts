/** Deletions that can still be taken back. */

import { api } from "$/link/http";
import { Problem } from "$/link/problem";

export const REGRET_SECONDS = 6;

/** How a deletion went. */
export type Outcome = "deleted" | "taken back" | "failed";

interface Regret {
  path: string;
  timer: ReturnType<typeof setTimeout>;
  settle: (outcome: Outcome) => void;
}

export class Regrets {
  readonly #waiting = new Set<Regret>();

  /** Deletes what is at the path a little later; `undo` takes it back until then. */
  delete(path: string): { done: Promise<Outcome>; undo: () => void } {
    let settle: (outcome: Outcome) => void = () => undefined;
    const done = new Promise<Outcome>((resolve) => (settle = resolve));
    const timer = setTimeout(() => void this.#delete(regret), REGRET_SECONDS * 1000);
    const regret = { path, timer, settle };
    this.#waiting.add(regret);
    return { done, undo: () => this.#end(regret, "taken back") };
  }

  /** The page goes away: what was decided is done. */
  finish(): void {
    for (const regret of this.#waiting) {
      api.last("DELETE", regret.path);
      this.#end(regret, "deleted");
    }
  }

  async #delete(regret: Regret): Promise<void> {
    this.#waiting.delete(regret);
    try {
      await api.delete(regret.path);
      regret.settle("deleted");
    } catch (error) {
      const gone = error instanceof Problem && error.status === 404;
      regret.settle(gone ? "deleted" : "failed");
    }
  }

  #end(regret: Regret, outcome: Outcome): void {
    clearTimeout(regret.timer);
    this.#waiting.delete(regret);
    regret.settle(outcome);
  }
}

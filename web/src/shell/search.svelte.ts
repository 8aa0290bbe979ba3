import { app } from "$/state/page";
import type { Session } from "$/wire/types";

export type Found = Session & { snippet?: string | null };

const PAUSE_MS = 120;

/** A search as one types: the newest question wins, however late an older answer comes. */
export class Search {
  query = $state("");
  results = $state.raw<Found[] | null>(null);
  failed = $state(false);
  #asked = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;

  get on(): boolean {
    return this.query.trim() !== "";
  }

  type(query: string): void {
    this.query = query;
    clearTimeout(this.#pause);
    if (this.on) this.#pause = setTimeout(() => void this.#ask(), PAUSE_MS);
    else this.clear();
  }

  /** The sessions have changed: what was found may no longer be so. */
  again(): void {
    if (!this.on || this.results === null) return;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => void this.#ask(), PAUSE_MS);
  }

  clear(): void {
    clearTimeout(this.#pause);
    this.#asked += 1;
    this.query = "";
    this.results = null;
    this.failed = false;
  }

  async #ask(): Promise<void> {
    const mine = ++this.#asked;
    try {
      const results = await app.sessions.search(this.query.trim());
      if (mine !== this.#asked) return;
      this.results = results;
      this.failed = false;
    } catch {
      if (mine === this.#asked) this.failed = true;
    }
  }
}

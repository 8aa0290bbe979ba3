/** Which sessions have something that this browser has not looked at. In the server's times. */

import { SvelteMap } from "svelte/reactivity";
import { recall, remember, whenRemembered } from "$/state/stored";
import type { Session } from "$/wire/types";

const KEY = "seen";
/** Older marks are forgotten: what happened before the oldest of them counts as seen. */
const MOST = 500;

interface Kept {
  /** Everything up to this moment counts as seen. */
  since: string;
  at: Record<string, string>;
}

export class Unread {
  #since = $state("");
  #seen = new SvelteMap<string, string>();
  /** When something last ended or asked, as far as this tab has heard. */
  #news = new SvelteMap<string, string>();

  constructor() {
    this.#load();
    whenRemembered(KEY, () => this.#load());
  }

  /** The first look of this browser: what is old is not news. */
  begin(now: string): void {
    if (this.#since !== "") return;
    this.#since = now;
    this.#save();
  }

  happened(id: string, at: string): void {
    this.#news.set(id, at);
  }

  looked(session: Session): void {
    const at = later(session.updated_at, this.#news.get(session.id) ?? "");
    if (at <= (this.#seen.get(session.id) ?? this.#since)) return;
    this.#seen.delete(session.id);
    this.#seen.set(session.id, at);
    this.#save();
  }

  has(session: Session): boolean {
    if (this.#since === "" || session.state === "running") return false;
    const at = later(session.updated_at, this.#news.get(session.id) ?? "");
    return at > (this.#seen.get(session.id) ?? this.#since);
  }

  forget(): void {
    this.#since = "";
    this.#seen.clear();
    this.#news.clear();
  }

  #load(): void {
    const kept = recall<Kept>(KEY, { since: "", at: {} });
    this.#since = kept.since;
    for (const [id, at] of Object.entries(kept.at)) this.#seen.set(id, at);
  }

  #save(): void {
    const all = [...this.#seen];
    const gone = all.slice(0, Math.max(0, all.length - MOST));
    for (const [id, at] of gone) {
      this.#seen.delete(id);
      this.#since = later(this.#since, at);
    }
    remember(KEY, { since: this.#since, at: Object.fromEntries(this.#seen) });
  }
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

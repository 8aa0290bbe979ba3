/** What is being written, saved to the server when the writer pauses. */

import { api } from "$/link/http";

const PAUSE_MS = 400;

export class DraftSaver {
  #text: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saved: Promise<void> | null = null;
  #resolve: () => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(private readonly path: string) {}

  /** Resolved when this or something newer is on the server. */
  write(text: string): Promise<void> {
    this.#text = text;
    this.#saved ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#save(), PAUSE_MS);
    return this.#saved;
  }

  /** Save now; the page may be going away. */
  flush(): void {
    clearTimeout(this.#timer);
    if (this.#text === null) return;
    api.last("PATCH", this.path, { draft: this.#text });
    this.#text = null;
    this.#settle()();
  }

  async #save(): Promise<void> {
    const text = this.#text;
    if (text === null) return;
    this.#text = null;
    const done = this.#settle();
    const failed = this.#reject;
    try {
      await api.patch(this.path, { draft: text });
      done();
    } catch (problem) {
      failed(problem);
    }
  }

  #settle(): () => void {
    this.#saved = null;
    return this.#resolve;
  }
}

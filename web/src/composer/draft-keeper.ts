/** Values sent this long ago may still come back as echoes of our own typing. */
const ECHO_MS = 10_000;

interface Sent {
  text: string;
  at: number;
}

/**
 * One text in two places: the field here, and the draft on the server, which other devices change.
 *
 * What is typed here is never overwritten: a text from elsewhere is taken only while everything
 * typed here is saved, and our own saves coming back late are not taken for somebody else's.
 */
export class DraftKeeper {
  text: string;
  #base: string;
  #sent: Sent[] = [];
  #open = 0;
  #now: () => number;

  constructor(server: string, now: () => number = Date.now) {
    this.text = server;
    this.#base = server;
    this.#now = now;
  }

  /** The server is not known to have what is here. */
  get dirty(): boolean {
    return this.#open > 0 || this.text !== this.#base;
  }

  type(text: string): void {
    this.text = text;
  }

  /** The text to save now, or null when the server has it. `saved` or `lost` must follow. */
  take(): string | null {
    const latest = this.#open > 0 ? this.#sent.at(-1)?.text : this.#base;
    if (latest === this.text) return null;
    this.#forget();
    this.#sent.push({ text: this.text, at: this.#now() });
    this.#open += 1;
    return this.text;
  }

  saved(text: string): void {
    this.#open -= 1;
    this.#base = text;
  }

  lost(text: string): void {
    this.#open -= 1;
    this.#sent = this.#sent.filter((sent) => sent.text !== text);
  }

  /** The server's draft is now this. True when the text here has changed with it. */
  hear(server: string): boolean {
    this.#forget();
    const unsaved = this.dirty;
    const echo = server !== this.text && this.#sent.some((sent) => sent.text === server);
    // After everything was saved an old text of ours means that two saves arrived in the wrong
    // order: what is here is unsaved again.
    if (!echo || this.#open === 0) this.#base = server;
    if (echo || unsaved || server === this.text) return false;
    this.text = server;
    return true;
  }

  #forget(): void {
    const since = this.#now() - ECHO_MS;
    this.#sent = this.#sent.filter((sent) => sent.at > since);
  }
}

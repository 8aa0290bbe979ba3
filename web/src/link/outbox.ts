/** What goes to one tab, a bundle per picture that its screen can show. */

import type { Piece, ToTab } from "./protocol";

const PICTURE_MS = 16;

export interface Port {
  post(word: ToTab): void;
}

export class Outbox {
  #pieces: Piece[] = [];
  #sent = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly port: Port) {}

  add(piece: Piece): void {
    this.#pieces.push(piece);
    if (this.#timer !== undefined) return;
    // The first after a silence goes at once, with all that came in the same moment.
    const pause = Math.max(0, this.#sent + PICTURE_MS - Date.now());
    this.#timer = setTimeout(() => this.#flush(), pause);
  }

  say(word: ToTab): void {
    this.#flush();
    this.port.post(word);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pieces.length === 0) return;
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#sent = Date.now();
    this.port.post({ say: "pieces", pieces });
  }
}

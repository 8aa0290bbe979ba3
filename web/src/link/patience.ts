/** How long to wait before trying again. */

const FIRST_MS = 250;
const LONGEST_MS = 10_000;

export class Patience {
  #tries = 0;

  constructor(
    private readonly random: () => number = Math.random,
    private readonly longest = LONGEST_MS,
  ) {}

  /** Longer each time, and never the same for all who wait: they would come back together. */
  next(): number {
    const full = Math.min(this.longest, FIRST_MS * 2 ** Math.min(this.#tries++, 10));
    return full * (0.5 + this.random() / 2);
  }

  reset(): void {
    this.#tries = 0;
  }
}

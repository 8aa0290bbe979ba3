/** Things that come, and those who wait for one of them. */

const PATIENCE_MS = 20_000;

interface Waiter<T> {
  wanted: (thing: T) => boolean;
  resolve: (thing: T) => void;
}

export class Waiting<T> {
  #things: T[] = [];
  #waiters: Waiter<T>[] = [];

  put(thing: T): void {
    const at = this.#waiters.findIndex(({ wanted }) => wanted(thing));
    const [waiter] = at < 0 ? [] : this.#waiters.splice(at, 1);
    if (waiter) waiter.resolve(thing);
    else this.#things.push(thing);
  }

  /** The oldest that is wanted, now or when it comes; `what` is for the complaint. */
  take(wanted: (thing: T) => boolean, what: string): Promise<T> {
    const at = this.#things.findIndex(wanted);
    const [found] = at < 0 ? [] : this.#things.splice(at, 1);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const waiter = { wanted, resolve };
      this.#waiters.push(waiter);
      setTimeout(() => {
        if (!this.#waiters.includes(waiter)) return;
        this.#waiters = this.#waiters.filter((one) => one !== waiter);
        reject(new Error(`${what} did not come in ${PATIENCE_MS / 1000} s`));
      }, PATIENCE_MS).unref();
    });
  }

  clear(): void {
    this.#things = [];
    this.#waiters = [];
  }
}

/** Things that come, and those who wait for one of them. */

const PATIENCE_MS = 20_000;

/** What does not come in time fails by its name. */
export async function inTime<T>(coming: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const complaint = new Error(`${what} did not come in ${PATIENCE_MS / 1000} s`);
    timer = setTimeout(() => reject(complaint), PATIENCE_MS);
  });
  return Promise.race([coming, late]).finally(() => clearTimeout(timer));
}

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

  /** The oldest that is wanted, now or when it comes; `what` names it. */
  take(wanted: (thing: T) => boolean, what: string): Promise<T> {
    const at = this.#things.findIndex(wanted);
    const [found] = at < 0 ? [] : this.#things.splice(at, 1);
    if (found !== undefined) return Promise.resolve(found);
    const coming = new Promise<T>((resolve) => this.#waiters.push({ wanted, resolve }));
    return inTime(coming, what);
  }

  clear(): void {
    this.#things = [];
    this.#waiters = [];
  }
}

import { createSubscriber } from "svelte/reactivity";

const EVERY = 20_000;

/** One clock for all relative times; it ticks only while one of them is on the screen. */
class Clock {
  #now = Date.now();
  #subscribe = createSubscriber((update) => {
    const tick = (): void => {
      this.#now = Date.now();
      update();
    };
    tick();
    const timer = setInterval(tick, EVERY);
    return () => clearInterval(timer);
  });

  get now(): number {
    this.#subscribe();
    return this.#now;
  }
}

export const clock = new Clock();

/** Where the reader is. The address is the only truth; back and forward work. */

import { placeOf, type PageName, type Place } from "$/state/path";

export class Route {
  #place = $state.raw<Place>({ page: "home", id: null, section: null });
  #query = $state.raw("");

  get page(): PageName {
    return this.#place.page;
  }

  get id(): string | null {
    return this.#place.id;
  }

  get section(): string | null {
    return this.#place.section;
  }

  /** The part after the question mark. */
  get query(): URLSearchParams {
    return new URLSearchParams(this.#query);
  }

  start(): void {
    this.#read();
    addEventListener("popstate", () => this.#read());
  }

  go(path: string): void {
    if (path === location.pathname + location.search) return;
    history.pushState(null, "", path);
    this.#read();
  }

  /** Go without a way back: where we are was never a place. */
  replace(path: string): void {
    history.replaceState(null, "", path);
    this.#read();
  }

  #read(): void {
    this.#place = placeOf(location.pathname);
    this.#query = location.search;
  }
}

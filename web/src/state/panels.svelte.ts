import { MediaQuery } from "svelte/reactivity";
import breakpoints from "$/styles/breakpoints.json";
import type { Preferred } from "./preferences.svelte";

/**
 * What of the frame is open.
 *
 * Columns are remembered for all tabs of this browser; sheets cover the page, so they belong to
 * one tab, open when asked for, and are gone after a reload.
 */
export class Panels {
  palette = $state(false);
  help = $state(false);
  /** The name in the header is being written. */
  renaming = $state(false);
  /** One column: the sidebar is a sheet. */
  readonly narrow = new MediaQuery(`(max-width: ${breakpoints.narrow})`, false);
  /** No room for a third column: the details are a sheet. */
  readonly tight = new MediaQuery(`(max-width: ${breakpoints.tight})`, false);
  readonly #columns: Pick<Preferred, "sidebar" | "details">;
  #sidebarSheet = $state(false);
  #detailsSheet = $state(false);

  constructor(columns: Pick<Preferred, "sidebar" | "details">) {
    this.#columns = columns;
  }

  get sidebar(): boolean {
    return this.narrow.current ? this.#sidebarSheet : this.#columns.sidebar;
  }

  set sidebar(open: boolean) {
    if (this.narrow.current) this.#sidebarSheet = open;
    else this.#columns.sidebar = open;
  }

  get details(): boolean {
    return this.tight.current ? this.#detailsSheet : this.#columns.details;
  }

  set details(open: boolean) {
    if (this.tight.current) this.#detailsSheet = open;
    else this.#columns.details = open;
  }

  /** Something in a sheet was chosen, or another page is shown: the sheets have done their work. */
  closeSheets(): void {
    this.#sidebarSheet = false;
    this.#detailsSheet = false;
  }
}

/** Puts the caret where the next prompt is written. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>("[data-composer]")?.focus();
}

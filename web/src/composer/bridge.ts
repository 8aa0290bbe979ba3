import type { Writing } from "./writing.svelte";
import type { Message } from "$/wire/types";

let open: { writing: Writing; focus: () => void } | null = null;

/** The composer on the page; it says so itself while it is there. */
export function present(writing: Writing, focus: () => void): () => void {
  const mine = { writing, focus };
  open = mine;
  return () => {
    if (open === mine) open = null;
  };
}

/** Put a user message into the composer to be changed and sent in its place. */
export function editInComposer(message: Message): void {
  open?.writing.edit(message);
  open?.focus();
}

/** Put words into the composer, if nothing is in it, and go there. */
export function suggest(text: string): void {
  open?.writing.putBack(text);
  open?.focus();
}

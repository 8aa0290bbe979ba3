import type { Attachment } from "svelte/attachments";

let region: HTMLElement | null = null;
let clearing: ReturnType<typeof setTimeout> | undefined;

/** Marks the page's one live region for `announce`. */
export const announcer: Attachment<HTMLElement> = (element) => {
  region = element;
  return () => {
    if (region === element) region = null;
  };
};

/** Tells screen readers one short thing, politely: what ended or asks, never what streams. */
export function announce(text: string): void {
  if (!region) return;
  const line = document.createElement("p");
  line.textContent = text;
  // A new element each time: the same words twice are said twice.
  region.replaceChildren(line);
  clearTimeout(clearing);
  clearing = setTimeout(() => region?.replaceChildren(), 8000);
}

import { SvelteSet } from "svelte/reactivity";
import type { Attachment } from "svelte/attachments";

/** Approvals that can be seen where they stand in the conversation. */
export const inSight = new SvelteSet<string>();

export function watched(id: string): Attachment<HTMLElement> {
  return (element) => {
    const watch = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) inSight.add(id);
      else inSight.delete(id);
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      inSight.delete(id);
    };
  };
}

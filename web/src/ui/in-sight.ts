import type { Attachment } from "svelte/attachments";

/** Tells whether the element can be seen, each time that changes; one that goes away cannot. */
export function inSight(changed: (seen: boolean) => void): Attachment<HTMLElement> {
  return (element) => {
    const watch = new IntersectionObserver(([entry]) => changed(entry?.isIntersecting ?? false));
    watch.observe(element);
    return () => {
      watch.disconnect();
      changed(false);
    };
  };
}

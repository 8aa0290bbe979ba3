/** Whether the words about how the last run ended can be seen in the conversation. */

import type { Attachment } from "svelte/attachments";

export const endingInSight = $state({ value: false });

export const watched: Attachment<HTMLElement> = (element) => {
  const watch = new IntersectionObserver(([entry]) => {
    endingInSight.value = entry?.isIntersecting ?? false;
  });
  watch.observe(element);
  return () => {
    watch.disconnect();
    endingInSight.value = false;
  };
};

import { route } from "$/state/page";

/** Follows a link inside the page; a press that asks for a new tab or window is left to the browser. */
export function follow(event: MouseEvent & { currentTarget: HTMLAnchorElement }): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  event.preventDefault();
  const { pathname, search } = event.currentTarget;
  route.go(pathname + search);
}

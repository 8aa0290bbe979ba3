/** HTML that an answer contains, made safe to show. Everything shown as HTML goes through here. */

import createPurifier, { type Config, type DOMPurify } from "dompurify";
import { openable, showable } from "./links";

// No class, id, style or name: an answer must not look like, or reach into, the page around it.
const CONFIG: Config = {
  ALLOWED_TAGS: [
    ..."a abbr b blockquote br caption cite code dd del details dfn div dl dt em".split(" "),
    ..."figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q".split(" "),
    ..."rp rt ruby s samp small span strong sub summary sup table tbody td tfoot".split(" "),
    ..."th thead tr u ul var wbr".split(" "),
  ],
  ALLOWED_ATTR: [
    ..."href src alt title colspan rowspan scope start reversed open lang dir".split(" "),
    ..."align target rel datetime value".split(" "),
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

// One for each kind of outcome: a configuration that is given with every call is read every time.
let toText: DOMPurify | null = null;
let toNodes: DOMPurify | null = null;

export function safe(html: string): string {
  toText ??= makePurifier(CONFIG);
  return toText.sanitize(html);
}

/** The same as an element that holds it. */
export function safeElement(html: string): HTMLElement {
  toNodes ??= makePurifier({ ...CONFIG, RETURN_DOM_FRAGMENT: true });
  const element = document.createElement("div");
  element.append(toNodes.sanitize(html));
  return element;
}

function makePurifier(config: Config): DOMPurify {
  const made = createPurifier(window);
  made.setConfig(config);
  made.addHook("afterSanitizeAttributes", (node) => {
    if (node instanceof HTMLAnchorElement) restrainLink(node);
    if (node instanceof HTMLImageElement) restrainImage(node);
  });
  return made;
}

function restrainLink(link: HTMLAnchorElement): void {
  const href = openable(link.getAttribute("href") ?? "");
  if (href === null) {
    link.removeAttribute("href");
    link.removeAttribute("target");
    return;
  }
  link.setAttribute("href", href);
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer nofollow");
}

/** An image of another host becomes a link to it: nothing is fetched until someone asks. */
function restrainImage(image: HTMLImageElement): void {
  const src = image.getAttribute("src") ?? "";
  if (showable(src)) {
    image.setAttribute("loading", "lazy");
    return;
  }
  const link = document.createElement("a");
  link.textContent = image.alt || src || "image";
  link.setAttribute("href", src);
  restrainLink(link);
  image.replaceWith(link);
}

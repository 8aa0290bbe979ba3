import { onMac } from "./keys";

export type ShortcutGroup = "Anywhere" | "Writing" | "Answer" | "Sessions" | "Compare";

export interface Shortcut {
  /** "Mod-Shift-O": Mod is Ctrl, or ⌘ on a Mac; the last piece is the `key` of the event. */
  keys: string;
  /** What it does, as the help sheet says it. */
  does: string;
  group: ShortcutGroup;
  /** null: only listed here; the element that has the focus handles it. */
  run: ((event: KeyboardEvent) => void) | null;
  when?: () => boolean;
  /** Also while the focus is in a field. True anyway for Escape and for keys with Mod or Alt. */
  inFields?: boolean;
}

const GROUPS: ShortcutGroup[] = ["Anywhere", "Writing", "Answer", "Sessions", "Compare"];

/** All keys of the page. Where two want the same key, the one added last decides first. */
export class Shortcuts {
  #all: Shortcut[] = [];

  /** Returns how to take it away again: `$effect(() => shortcuts.add({…}))`. */
  add(...added: Shortcut[]): () => void {
    this.#all.push(...added);
    return () => {
      this.#all = this.#all.filter((one) => !added.includes(one));
    };
  }

  /** For the help sheet: each key and meaning once, by group. */
  list(): { group: ShortcutGroup; items: Shortcut[] }[] {
    const once = new Map(this.#all.map((one) => [`${one.keys} ${one.does}`, one]));
    return GROUPS.map((group) => ({
      group,
      items: [...once.values()].filter((one) => one.group === group),
    })).filter(({ items }) => items.length > 0);
  }

  /** Runs what the event asks for; true when something did. */
  handle(event: KeyboardEvent, mac: boolean = onMac): boolean {
    if (event.defaultPrevented || event.isComposing) return false;
    const typing = isField(event.target);
    for (const one of this.#all.toReversed()) {
      if (!one.run || !matches(one.keys, event, mac)) continue;
      if (typing && !one.inFields && !reachesFields(one.keys)) continue;
      if (one.when && !one.when()) continue;
      event.preventDefault();
      one.run(event);
      return true;
    }
    return false;
  }
}

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

export function matches(keys: string, event: Pressed, mac: boolean): boolean {
  const pieces = keys.split("-");
  const key = pieces.at(-1) ?? "";
  const wants = (modifier: string): boolean => pieces.slice(0, -1).includes(modifier);
  const ctrl = wants("Ctrl") || (wants("Mod") && !mac);
  const meta = wants("Mod") && mac;
  if (event.ctrlKey !== ctrl || event.metaKey !== meta || event.altKey !== wants("Alt"))
    return false;
  // Where signs like "?" and "/" are on the keyboard differs: Shift may be needed to type them.
  const sign = key.length === 1 && !/[a-z0-9]/i.test(key);
  if (!sign && event.shiftKey !== wants("Shift")) return false;
  return event.key.toLowerCase() === key.toLowerCase();
}

function reachesFields(keys: string): boolean {
  return keys === "Escape" || /^(Mod|Alt|Ctrl)-/.test(keys);
}

function isField(target: EventTarget | null): boolean {
  if (typeof HTMLElement === "undefined" || !(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !/^(checkbox|radio|button)$/.test(target.type);
}

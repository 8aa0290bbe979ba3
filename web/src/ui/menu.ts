import type { Icon } from "./icon";

export interface MenuItem {
  label: string;
  run: () => void;
  icon?: Icon | undefined;
  hint?: string | undefined;
  danger?: boolean | undefined;
  disabled?: boolean | undefined;
  /** Set on items of which one or some are chosen; such an item shows a tick when true. */
  checked?: boolean | undefined;
  /** A line above this item. */
  divided?: boolean | undefined;
}

/** What the button that opens a menu must carry. */
export interface TriggerProps {
  id: string;
  popovertarget: string;
  "aria-haspopup": "menu";
  "aria-expanded": boolean;
  onkeydown: (event: KeyboardEvent) => void;
}

/** The item a key moves to; null when the key does not move. Typing letters finds by beginning. */
export function moved(key: string, at: number, labels: string[], typed: string): number | null {
  const last = labels.length - 1;
  if (last < 0) return null;
  if (key === "ArrowDown") return at >= last ? 0 : at + 1;
  if (key === "ArrowUp") return at <= 0 ? last : at - 1;
  if (key === "Home" || key === "PageUp") return 0;
  if (key === "End" || key === "PageDown") return last;
  if (key.length !== 1 || key === " ") return null;
  const wanted = (typed + key).toLowerCase();
  // One letter again and again walks through its items; more letters narrow down from here.
  const from = wanted.length === 1 ? at + 1 : Math.max(at, 0);
  for (let step = 0; step < labels.length; step += 1) {
    const index = (from + step) % labels.length;
    if (labels[index]?.toLowerCase().startsWith(wanted)) return index;
  }
  return null;
}

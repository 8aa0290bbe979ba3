const SHOWN: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

export const onMac: boolean =
  typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);

/** "Mod-Shift-O" → ["Ctrl", "Shift", "O"], or the signs that a Mac has on its keys. */
export function keycaps(keys: string, mac: boolean = onMac): string[] {
  const modifiers: Record<string, string> = mac
    ? { Mod: "⌘", Ctrl: "⌃", Shift: "⇧", Alt: "⌥" }
    : { Mod: "Ctrl" };
  return keys.split("-").map((key) => modifiers[key] ?? SHOWN[key] ?? key);
}

/** The same in one line, for tooltips and menus: "Ctrl+Shift+O". */
export function keyText(keys: string, mac: boolean = onMac): string {
  return keycaps(keys, mac).join(mac ? "" : "+");
}

/** What this browser remembers by itself. Without storage it forgets, and works. */

export function recall<T extends object>(key: string, otherwise: T): T {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`tenuto.${key}`) ?? "null");
    if (typeof kept === "object" && kept !== null) return { ...otherwise, ...kept };
  } catch {
    // Not allowed, or not ours.
  }
  return otherwise;
}

export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(`tenuto.${key}`, JSON.stringify(value));
  } catch {
    // Full or not allowed: it is only for comfort.
  }
}

/** Everything that is remembered goes, but this. */
export function forgetAllBut(key: string): void {
  try {
    const names = Array.from({ length: localStorage.length }, (_, n) => localStorage.key(n) ?? "");
    for (const name of names) {
      if (name.startsWith("tenuto.") && name !== `tenuto.${key}`) localStorage.removeItem(name);
    }
  } catch {
    // Not allowed: then nothing is remembered either.
  }
}

/** Called when another tab has changed what is remembered under the key. */
export function whenRemembered(key: string, changed: () => void): void {
  addEventListener("storage", (event) => {
    if (event.key === `tenuto.${key}`) changed();
  });
}

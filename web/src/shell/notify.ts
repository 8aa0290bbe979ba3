import { route } from "$/state/page";
import type { Happened } from "./attention";

/** How long the tab that tells keeps the others from telling the same. */
const HOLD_MS = 5000;
const LOOKING = "tenuto looking";

/** While this tab is looked at, the others know it and keep quiet. */
export function holdWhileVisible(): () => void {
  if (!("locks" in navigator)) return () => undefined;
  let release: (() => void) | null = null;
  const changed = (): void => {
    release?.();
    release = null;
    if (document.hidden) return;
    const seen = new Promise<void>((resolve) => (release = resolve));
    void navigator.locks.request(LOOKING, { mode: "shared" }, () => seen);
  };
  changed();
  document.addEventListener("visibilitychange", changed);
  return () => {
    document.removeEventListener("visibilitychange", changed);
    release?.();
  };
}

/** Shows a notification, from one tab only, and from none while any tab is looked at. */
export async function notify({ session, what }: Happened): Promise<void> {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  if ("locks" in navigator) {
    const { held } = await navigator.locks.query();
    if (held?.some((lock) => lock.name === LOOKING)) return;
    const name = `tenuto told ${session.id} ${what} ${session.head}`;
    void navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      if (!lock) return;
      show({ session, what });
      await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
    });
  } else show({ session, what });
}

function show({ session, what }: Happened): void {
  const asks = session.waiting_questions > 0 ? "Has a question for you" : "Needs your approval";
  const words = what === "asks" ? asks : "The answer is finished";
  try {
    const shown = new Notification(session.title || "Tenuto", {
      body: words,
      tag: session.id,
      icon: "/icon-192.png",
    });
    shown.onclick = () => {
      window.focus();
      route.go(`/s/${session.id}`);
      shown.close();
    };
  } catch {
    // Phones allow notifications only from a service worker; there the title's badge has to do.
    void navigator.serviceWorker?.ready.then((worker) =>
      worker.showNotification(session.title || "Tenuto", {
        body: words,
        tag: session.id,
        icon: "/icon-192.png",
        data: { path: `/s/${session.id}` },
      }),
    );
  }
}

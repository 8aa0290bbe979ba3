import { app, route } from "$/state/page";

const WARM_MS = 3000;
const PARTS = [
  () => import("./Palette.svelte"),
  () => import("./HelpSheet.svelte"),
  () => import("$/details/Details.svelte"),
  () => import("$/conversation/Transcript.svelte"),
];

/** The colours of the page's ground, for what the browser draws around it. */
const GROUND = { light: "#ffffff", dark: "#1a1a19" };

/** Colours the browser's own frame like the page, also when the theme is not the system's. */
export function colourFrame(): void {
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const system = meta.media.includes("dark") ? "dark" : "light";
    meta.content = GROUND[app.theme === "system" ? system : app.theme];
  }
}

/** Keeps the page's files on this device, and follows what a notification there asks to open. */
export function keepOnDevice(): () => void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return () => undefined;
  const worker = navigator.serviceWorker;
  // Not kept is only slower: a browser that refuses needs no word about it.
  worker.register("/sw.js").catch(() => undefined);
  const asked = ({ data }: MessageEvent<{ go?: unknown }>): void => {
    if (typeof data.go === "string") route.go(data.go);
  };
  worker.addEventListener("message", asked);
  return () => worker.removeEventListener("message", asked);
}

/**
 * Says so when a part of the page is gone because the server has been given a newer page. Without a
 * line to the server nobody knows, and the page already says that the line is down.
 */
export function tellWhatIsMissing(): () => void {
  let told = false;
  const missing = async (): Promise<void> => {
    if (told || !(await serverAnswers()) || told) return;
    told = true;
    app.say("A newer version of this page is ready.", {
      seconds: 60,
      action: { label: "Reload", do: () => location.reload() },
    });
  };
  const heard = (): void => void missing();
  addEventListener("vite:preloadError", heard);
  return () => removeEventListener("vite:preloadError", heard);
}

async function serverAnswers(): Promise<boolean> {
  if (!navigator.onLine) return false;
  try {
    return (await fetch("/healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Fetches what is opened most, while nothing else is to do: it then opens at once, and offline. */
export function warm(): () => void {
  const timer = setTimeout(() => {
    if (navigator.onLine) void Promise.allSettled(PARTS.map((part) => part()));
  }, WARM_MS);
  return () => clearTimeout(timer);
}

/** What the browser says about notifications for this page. */

export type NotifyState = "granted" | "denied" | "default" | "unsupported";

export function notifyState(): NotifyState {
  return "Notification" in globalThis ? Notification.permission : "unsupported";
}

export async function askToNotify(): Promise<NotifyState> {
  return "Notification" in globalThis ? Notification.requestPermission() : "unsupported";
}

/** What there is once in a page: made here, and forgotten here. */

import { Link } from "$/link/link";
import { Shortcuts } from "$/ui/shortcuts";
import { App } from "./app.svelte";
import { Notices } from "./notices.svelte";
import { Panels } from "./panels.svelte";
import { preferred } from "./preferences.svelte";
import { Regrets } from "./regrets";
import { Route } from "./route.svelte";
import { forgetAllBut } from "./stored";
import { Unread } from "./unread.svelte";

const preferences = preferred();
const regrets = new Regrets();
const unread = new Unread();

export const link = new Link();
export const notices = new Notices();
export const route = new Route();
export const shortcuts = new Shortcuts();
export const panels = new Panels(preferences);
export const app = new App({ preferences, notices, route, link, unread, regrets });

/** Someone has logged out: nothing of theirs stays, in this tab or in this browser. */
export function forget(): void {
  app.stop();
  link.stop();
  unread.forget();
  // How the page looks is the device's.
  forgetAllBut("preferences");
}

/** Everything that components share: what there is, where we are, and how the link is. */

import { api, doors } from "$/link/http";
import { link } from "$/link/link";
import { Problem } from "$/link/problem";
import type { LinkState } from "$/link/protocol";
import { Conversation } from "$/state/conversation.svelte";
import { flushDrafts } from "./draft-saver";
import { notices, type Notice, type NoticeOptions } from "$/state/notices.svelte";
import { keepPreferences, preferences, type Theme } from "$/state/preferences.svelte";
import { route } from "$/state/route.svelte";
import { finishDeleting, SessionList } from "$/state/sessions.svelte";
import type { Model, Workspace } from "$/wire/types";
import { untrack } from "svelte";

export type { Notice } from "$/state/notices.svelte";
export { SessionList } from "$/state/sessions.svelte";

const DEFAULT: Workspace = { id: "default", name: "Default", path: "" };

class App {
  models: Model[] = $state.raw([]);
  defaultModel = $state("");
  workspaces: Workspace[] = $state.raw([DEFAULT]);
  link: { state: LinkState; since: number } = $state({ state: "connecting", since: Date.now() });
  conversation: Conversation | null = $state.raw(null);
  readonly preferences = preferences;
  #sessions: SessionList | null = $state.raw(null);

  readonly workspace: Workspace = $derived(
    this.workspaces.find((one) => one.id === preferences.workspace) ??
      this.workspaces.find((one) => one.id === DEFAULT.id) ??
      DEFAULT,
  );

  get sessions(): SessionList {
    if (this.#sessions === null) throw new Error("The app has not been started.");
    return this.#sessions;
  }

  get notices(): Notice[] {
    return notices.all;
  }

  get theme(): Theme {
    return preferences.theme;
  }

  get details(): boolean {
    return preferences.details;
  }

  set details(open: boolean) {
    preferences.details = open;
  }

  get sidebar(): boolean {
    return preferences.sidebar;
  }

  set sidebar(open: boolean) {
    preferences.sidebar = open;
  }

  /** Begin. Nothing waits for the server: what it says appears when it comes. */
  start(): void {
    keepPreferences();
    route.start();
    link.onstate = (state, since) => this.#linked(state, since);
    link.onunauthorized = doors.unauthorized;
    link.start();
    this.#listSessionsOf(preferences.workspace);
    $effect.root(() => {
      $effect(() => this.#open(route.page === "session" ? route.id : null));
      $effect(() => this.#look());
      $effect(() => this.#listSessionsOf(this.conversation?.session?.workspace_id ?? null));
    });
    addEventListener("pagehide", () => {
      flushDrafts();
      finishDeleting();
    });
    document.addEventListener("visibilitychange", () => this.#look());
    void this.#load();
  }

  setWorkspace(id: string): void {
    if (id === this.sessions.workspace) return;
    if (route.page === "session") route.go("/");
    this.#listSessionsOf(id);
  }

  setTheme(theme: Theme): void {
    preferences.theme = theme;
  }

  say(text: string, options: NoticeOptions = {}): void {
    notices.say(text, options);
  }

  dismiss(id: number): void {
    notices.dismiss(id);
  }

  async refreshModels(): Promise<void> {
    const found = await api.get<{ models: Model[]; default: string | null }>("/api/models");
    this.models = found.models;
    this.defaultModel = found.default ?? "";
  }

  async refreshWorkspaces(): Promise<void> {
    const found = await api.get<{ workspaces: Workspace[] }>("/api/workspaces");
    this.workspaces = found.workspaces;
    // The one that was open is gone: another tab or device has removed it.
    if (!found.workspaces.some((one) => one.id === preferences.workspace)) {
      this.setWorkspace(DEFAULT.id);
    }
  }

  async #load(): Promise<void> {
    try {
      await Promise.all([this.refreshModels(), this.refreshWorkspaces()]);
    } catch (problem) {
      // While the server cannot be reached the line that says so is enough.
      if (!(problem instanceof Problem)) throw problem;
    }
  }

  #linked(state: LinkState, since: number): void {
    const back = this.link.state === "offline" && state === "online";
    this.link = { state, since };
    // It may have been restarted with other models.
    if (back) void this.#load();
  }

  /** A session brings its workspace along; null: nothing to go by. */
  #listSessionsOf(workspace: string | null): void {
    if (workspace === null || workspace === untrack(() => this.#sessions)?.workspace) return;
    untrack(() => this.#sessions)?.close();
    preferences.workspace = workspace;
    this.#sessions = new SessionList(workspace, () => void this.refreshWorkspaces());
  }

  #open(id: string | null): void {
    const open = untrack(() => this.conversation);
    if (id === (open?.id ?? null)) return;
    open?.close();
    this.conversation = id === null ? null : new Conversation(id);
  }

  /** Whatever is on a visible screen has been looked at. */
  #look(): void {
    const session = this.conversation?.session ?? null;
    const known = session === null ? undefined : this.sessions.find(session.id);
    if (document.visibilityState !== "visible" || session === null) return;
    untrack(() => {
      this.sessions.looked(session);
      if (known !== undefined) this.sessions.looked(known);
    });
  }
}

export const app = new App();

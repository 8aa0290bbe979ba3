/** Everything that components share: what there is, where we are, and how the link is. */

import { api, doors } from "$/link/http";
import type { Link } from "$/link/link";
import { Problem } from "$/link/problem";
import type { LinkState } from "$/link/protocol";
import { Conversation } from "$/state/conversation.svelte";
import type { Notice, NoticeOptions, Notices } from "$/state/notices.svelte";
import { keepPreferences, type Preferred, type Theme } from "$/state/preferences.svelte";
import type { Regrets } from "$/state/regrets";
import type { Route } from "$/state/route.svelte";
import { SessionList } from "$/state/sessions.svelte";
import type { Unread } from "$/state/unread.svelte";
import type { Model, Workspace } from "$/wire/types";
import { untrack } from "svelte";

/** Until the server has told of it. */
const DEFAULT: Workspace = {
  id: "default",
  name: "Default",
  path: "",
  home: null,
  rules: [],
  by: "",
  created_at: "",
};

export interface Parts {
  preferences: Preferred;
  notices: Notices;
  route: Route;
  link: Link;
  unread: Unread;
  regrets: Regrets;
}

export class App {
  models: Model[] = $state.raw([]);
  defaultModel = $state("");
  workspaces: Workspace[] = $state.raw([DEFAULT]);
  link: { state: LinkState; since: number } = $state({ state: "connecting", since: Date.now() });
  conversation: Conversation | null = $state.raw(null);
  readonly preferences: Preferred;
  readonly #parts: Parts;
  #stop: () => void = () => undefined;
  #sessions: SessionList | null = $state.raw(null);

  readonly workspace: Workspace = $derived.by(
    () =>
      this.workspaces.find((one) => one.id === this.preferences.workspace) ??
      this.workspaces.find((one) => one.id === DEFAULT.id) ??
      DEFAULT,
  );

  constructor(parts: Parts) {
    this.#parts = parts;
    this.preferences = parts.preferences;
  }

  get sessions(): SessionList {
    if (this.#sessions === null) throw new Error("The app has not been started.");
    return this.#sessions;
  }

  get notices(): Notice[] {
    return this.#parts.notices.all;
  }

  get theme(): Theme {
    return this.preferences.theme;
  }

  /** Begin. Nothing waits for the server: what it says appears when it comes. */
  start(): void {
    const { route, link } = this.#parts;
    keepPreferences(this.preferences);
    route.start();
    link.onstate = (state, since) => this.#linked(state, since);
    link.onunauthorized = doors.unauthorized;
    link.start();
    this.#listSessionsOf(this.preferences.workspace);
    this.#stop = $effect.root(() => {
      $effect(() => this.#open(route.page === "session" ? route.id : null));
      $effect(() => this.#look());
      $effect(() => this.#listSessionsOf(this.conversation?.session?.workspace_id ?? null));
    });
    addEventListener("pagehide", () => this.finish());
    document.addEventListener("visibilitychange", () => this.#look());
    void this.#load();
  }

  /** What was written is saved and what was decided is done: afterwards it may be too late. */
  finish(): void {
    this.conversation?.flush();
    this.#parts.regrets.finish();
  }

  /** Follow nothing any more. */
  stop(): void {
    this.#stop();
    this.#open(null);
    this.#sessions?.close();
  }

  /** Follow one session, beside the one that is open. */
  follow(id: string): Conversation {
    return new Conversation(id, this.#parts.link);
  }

  setWorkspace(id: string): void {
    const { route } = this.#parts;
    if (id === this.sessions.workspace) return;
    if (route.page === "session") route.go("/");
    this.#listSessionsOf(id);
  }

  setTheme(theme: Theme): void {
    this.preferences.theme = theme;
  }

  say(text: string, options: NoticeOptions = {}): void {
    this.#parts.notices.say(text, options);
  }

  dismiss(id: number): void {
    this.#parts.notices.dismiss(id);
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
    if (!found.workspaces.some((one) => one.id === this.preferences.workspace)) {
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
    this.preferences.workspace = workspace;
    this.#sessions = new SessionList(workspace, {
      ...this.#parts,
      gone: () => void this.refreshWorkspaces(),
    });
  }

  #open(id: string | null): void {
    const open = untrack(() => this.conversation);
    if (id === (open?.id ?? null)) return;
    open?.close();
    this.conversation = id === null ? null : this.follow(id);
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

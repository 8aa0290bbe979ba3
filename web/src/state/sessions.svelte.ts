/** The sessions of a workspace, kept as they are by its stream. */

import { Listing } from "$/fold/listing";
import { api } from "$/link/http";
import type { Logs } from "$/link/link";
import { Problem } from "$/link/problem";
import type { Piece } from "$/link/protocol";
import { onNextFrame } from "$/state/frame";
import type { Notices } from "$/state/notices.svelte";
import { REGRET_SECONDS, type Regrets } from "$/state/regrets";
import type { Unread } from "$/state/unread.svelte";
import type { Event, Session, WorkspaceSnapshot } from "$/wire/types";

const PAGE = 100;
/** Several events of one session are answered by asking for it once. */
const ASK_MS = 150;

interface SessionPage {
  sessions: Session[];
  next: string | null;
}

export interface Around {
  link: Logs;
  notices: Notices;
  unread: Unread;
  regrets: Regrets;
  /** Told when the workspace does not exist any more. */
  gone: () => void;
}

export class SessionList {
  readonly workspace: string;
  items: Session[] = $state.raw([]);
  more = $state(false);
  /** Nothing is known yet. */
  loading = $state(true);
  /** Told of each event of the workspace once it is shown. */
  onevent: (event: Event, session: Session | undefined) => void = () => undefined;

  #listing = new Listing();
  #waiting: Piece[] = [];
  #asking = new Map<string, ReturnType<typeof setTimeout>>();
  #removed = $state.raw<ReadonlySet<string>>(new Set());
  #unfollow: () => void;

  constructor(
    workspace: string,
    private readonly around: Around,
  ) {
    this.workspace = workspace;
    this.#unfollow = around.link.follow("workspace", workspace, {
      pieces: (pieces) => this.#receive(pieces),
      cursor: () => this.#listing.head,
    });
  }

  close(): void {
    this.#unfollow();
    for (const timer of this.#asking.values()) clearTimeout(timer);
  }

  find(id: string): Session | undefined {
    return this.items.find((session) => session.id === id);
  }

  async loadMore(): Promise<void> {
    const cursor = this.#listing.next;
    if (cursor === null) return;
    const page = await api.get<SessionPage>("/api/sessions", {
      workspace: this.workspace,
      limit: PAGE,
      cursor,
    });
    if (this.#listing.next !== cursor) return;
    this.#listing.next = page.next;
    const fresh = page.sessions.filter((session) => this.#listing.get(session.id) === undefined);
    this.#listing.put(fresh, Date.now());
    this.#show();
  }

  unread(id: string): boolean {
    const session = this.find(id);
    return session !== undefined && this.around.unread.has(session);
  }

  /** It is on a screen that someone looks at. */
  looked(session: Session): void {
    this.around.unread.looked(session);
  }

  async search(q: string): Promise<Session[]> {
    const page = await api.get<SessionPage>("/api/sessions", { workspace: this.workspace, q });
    return page.sessions.filter((session) => !this.#removed.has(session.id));
  }

  async archived(): Promise<Session[]> {
    const found: Session[] = [];
    let cursor: string | null = null;
    do {
      const page: SessionPage = await api.get<SessionPage>("/api/sessions", {
        workspace: this.workspace,
        archived: true,
        limit: PAGE,
        cursor,
      });
      found.push(...page.sessions.filter((session) => !this.#removed.has(session.id)));
      cursor = page.next;
    } while (cursor !== null);
    return found;
  }

  async create(
    given: { model?: string; title?: string; system?: string } = {},
    key?: string,
  ): Promise<Session> {
    const body = { workspace: this.workspace, ...given };
    const session = await api.post<Session>(
      "/api/sessions",
      body,
      key === undefined ? {} : { key },
    );
    if (this.#listing.get(session.id) === undefined) {
      this.#listing.put([session], Date.now());
      this.#show();
    }
    return session;
  }

  /** Hidden at once and deleted a little later, so that it can be undone. */
  async remove(id: string): Promise<void> {
    const { notices, regrets } = this.around;
    const { done, undo } = regrets.delete(`/api/sessions/${id}`);
    this.#removed = new Set([...this.#removed, id]);
    this.#show();
    notices.say("Deleted.", {
      seconds: REGRET_SECONDS,
      action: { label: "Undo", do: undo },
    });
    const outcome = await done;
    if (outcome !== "deleted") this.#bringBack(id);
    if (outcome === "failed") notices.say("It could not be deleted.", { kind: "bad" });
  }

  pin(id: string, on: boolean): Promise<void> {
    return this.#change(id, { pinned: on });
  }

  archive(id: string, on: boolean): Promise<void> {
    return this.#change(id, { archived: on });
  }

  rename(id: string, title: string): Promise<void> {
    return this.#change(id, { title });
  }

  async #change(id: string, changes: Partial<Session>): Promise<void> {
    await api.patch(`/api/sessions/${id}`, changes);
  }

  #bringBack(id: string): void {
    this.#removed = new Set([...this.#removed].filter((other) => other !== id));
    this.#show();
  }

  #receive(pieces: Piece[]): void {
    for (const piece of pieces) this.#waiting.push(piece);
    onNextFrame(this.#work);
  }

  #work = (): void => {
    const pieces = this.#waiting;
    this.#waiting = [];
    for (const piece of pieces) this.#take(piece);
    this.#show();
  };

  #take(piece: Piece): void {
    if (piece.kind === "gone") {
      this.around.gone();
      return;
    }
    if (piece.kind === "snapshot") {
      this.#listing.replace(JSON.parse(piece.data) as WorkspaceSnapshot);
      this.around.unread.begin(this.#listing.items()[0]?.updated_at ?? new Date().toISOString());
      this.loading = false;
      return;
    }
    const event = JSON.parse(piece.data) as Event;
    const heard = this.#listing.apply(event, Date.now());
    if (heard === "seen") return;
    if (heard === "ask") this.#ask(event.session_id);
    if (isNews(event)) this.around.unread.happened(event.session_id, event.at);
    this.onevent(event, this.#listing.get(event.session_id));
  }

  /** Ask how a session is that we do not know well enough. */
  #ask(id: string): void {
    clearTimeout(this.#asking.get(id));
    this.#asking.set(
      id,
      setTimeout(() => void this.#askNow(id), ASK_MS),
    );
  }

  async #askNow(id: string): Promise<void> {
    this.#asking.delete(id);
    try {
      const session = await api.get<Session>(`/api/sessions/${id}`);
      if (session.workspace_id === this.workspace) this.#listing.put([session], Date.now());
    } catch (problem) {
      if (!(problem instanceof Problem) || problem.status !== 404) return;
      this.#listing.forget(id);
    }
    this.#show();
  }

  #show(): void {
    this.items = this.#listing.items().filter((session) => !this.#removed.has(session.id));
    this.more = this.#listing.next !== null;
  }
}

function isNews(event: Event): boolean {
  return ["run.finished", "approval.requested", "question.asked"].includes(event.type);
}

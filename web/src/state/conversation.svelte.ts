/** One session on the screen: its messages, runs and approvals, and what can be done with it. */

import { Transcript, type Touched } from "$/fold/transcript";
import { api, type PostOptions } from "$/link/http";
import type { Logs } from "$/link/link";
import type { Piece } from "$/link/protocol";
import { ChangeBook } from "./change-book.svelte";
import { JobBook } from "./job-book.svelte";
import { DraftSaver } from "./draft-saver";
import { onNextFrame } from "$/state/frame";
import { Sight } from "$/state/sight.svelte";
import type {
  Approval,
  Compaction,
  Word,
  Effort,
  Event,
  Input,
  Message,
  Mode,
  Question,
  Run,
  Session,
  Snapshot,
  WhenBusy,
} from "$/wire/types";

const PAGE = 60;
const RUNS_PAGE = 100;

export type Phase = "loading" | "ready" | "missing" | "deleted";

export interface SessionChanges {
  title?: string;
  model?: string | null;
  system?: string | null;
  pinned?: boolean;
  archived?: boolean;
  draft?: string;
}

export interface SendOptions {
  model?: string;
  mode?: Mode;
  effort?: Effort;
  when_busy?: WhenBusy;
  /** To send the same prompt again after a failure: it is not taken twice. */
  key?: string;
  /** To give up sending it. */
  signal?: AbortSignal;
}

/** A message in the list. The row stays while its message grows. */
export class MessageRow {
  readonly id: string;
  message: Message = $state.raw() as Message;

  constructor(message: Message) {
    this.id = message.id;
    this.message = message;
  }
}

export class Conversation {
  readonly id: string;
  readonly sight = new Sight();
  readonly changes = new ChangeBook();
  readonly jobs: JobBook;
  phase: Phase = $state("loading");
  session: Session | null = $state.raw(null);
  rows: MessageRow[] = $state.raw([]);
  more = $state(false);
  runs: ReadonlyMap<string, Run> = $state.raw(new Map());
  approvals: Approval[] = $state.raw([]);
  questions: Question[] = $state.raw([]);
  compactions: Compaction[] = $state.raw([]);
  loadingOlder = $state(false);
  /** How often something was asked from this tab: only then may the view go to the end by itself. */
  sent = $state(0);
  #order: string[] = $state.raw([]);
  #stops = $state(0);

  readonly active: Run | null = $derived(this.runs.get(this.session?.active_run ?? "") ?? null);
  readonly queue: Run[] = $derived(
    this.#order.flatMap((id) => {
      const run = this.runs.get(id);
      return run?.status === "queued" ? [run] : [];
    }),
  );
  readonly pending: Approval[] = $derived(this.approvals.filter((a) => a.state === "pending"));
  /** What it asks the person now. */
  readonly asked: Question[] = $derived(this.questions.filter((q) => q.state === "pending"));
  readonly stopping: boolean = $derived(this.#stops > 0);

  #transcript = new Transcript();
  #rows = new Map<string, MessageRow>();
  #waiting: Piece[] = [];
  #draft: DraftSaver;
  #runsCursor: string | null | undefined;
  readonly #logs: Logs;
  #unfollow: () => void;
  /** Told of each event once it is shown. */
  onevent: (event: Event) => void = () => undefined;

  constructor(id: string, logs: Logs) {
    this.id = id;
    this.#logs = logs;
    this.jobs = new JobBook(id);
    this.#draft = new DraftSaver(`/api/sessions/${id}`);
    this.#unfollow = logs.follow("session", id, {
      pieces: (pieces) => this.#receive(pieces),
      cursor: () => (this.phase === "loading" ? null : this.#transcript.head),
    });
  }

  /** Stop following it. What was written and not saved is saved. */
  close(): void {
    this.#unfollow();
    this.flush();
  }

  /** The page may be going away: what was written is saved now. */
  flush(): void {
    this.#draft.flush();
  }

  async loadOlder(): Promise<void> {
    const first = this.rows[0]?.id;
    if (!this.more || this.loadingOlder || first === undefined) return;
    this.loadingOlder = true;
    try {
      const page = await api.get<{ messages: Message[]; before: string | null }>(
        this.#path("messages"),
        { limit: PAGE, before: first },
      );
      await this.#loadRuns(page.messages);
      // Something may have replaced the list meanwhile.
      if (this.rows[0]?.id !== first) return;
      this.#transcript.prepend(page.messages, page.before !== null);
      this.#show();
    } finally {
      this.loadingOlder = false;
    }
  }

  send(input: Input, options: SendOptions = {}): Promise<Run> {
    const { key, signal, ...rest } = options;
    this.sent += 1;
    return api.post<Run>(this.#path("runs"), { input, ...rest }, posting(key, signal));
  }

  async stop(): Promise<void> {
    await this.#stopping(this.#path("cancel"));
  }

  async cancelRun(id: string): Promise<void> {
    await this.#stopping(`/api/runs/${id}/cancel`);
  }

  async withdraw(id: string): Promise<void> {
    await api.delete(`/api/runs/${id}`);
  }

  async changeQueued(
    id: string,
    changes: { input?: Input; position?: number; when_busy?: "steer" },
  ): Promise<void> {
    await api.patch<Run>(`/api/runs/${id}`, changes);
  }

  async undo(): Promise<void> {
    // An answer that is lost must not become a second undo.
    await api.post(this.#path("undo"), {}, { again: "never" });
  }

  retry(options: { model?: string } = {}): Promise<Run> {
    this.sent += 1;
    return api.post<Run>(this.#path("retry"), options);
  }

  edit(
    messageId: string,
    input: Input,
    options: { model?: string; key?: string; signal?: AbortSignal } = {},
  ): Promise<Run> {
    const { key, signal, ...rest } = options;
    const body = { message_id: messageId, input, ...rest };
    this.sent += 1;
    return api.post<Run>(this.#path("edit"), body, posting(key, signal));
  }

  fork(messageId?: string): Promise<Session> {
    const body = messageId === undefined ? {} : { message_id: messageId };
    return api.post<Session>(this.#path("fork"), body);
  }

  continueRun(runId: string): Promise<Run> {
    this.sent += 1;
    return api.post<Run>(`/api/runs/${runId}/continue`);
  }

  async compact(): Promise<void> {
    await api.post(this.#path("compact"));
  }

  /** Ask about a tool again that was allowed for the whole session. */
  async revoke(tool: string): Promise<void> {
    await api.delete(`${this.#path("grants")}/${encodeURIComponent(tool)}`);
  }

  async decide(approvalId: string, word: Word): Promise<void> {
    await api.post(`/api/approvals/${approvalId}`, word);
  }

  /** Answer a question, or dismiss it (null). */
  async reply(questionId: string, answers: string[][] | null): Promise<void> {
    const body = answers === null ? { dismiss: true } : { answers };
    await api.post(`/api/questions/${questionId}`, body);
  }

  /** A draft alone is saved when the writer pauses; the promise waits for that. */
  async update(changes: SessionChanges): Promise<void> {
    const { draft, ...rest } = changes;
    const saved = draft === undefined ? null : this.#draft.write(draft);
    if (Object.keys(rest).length > 0) await api.patch(`/api/sessions/${this.id}`, rest);
    await saved;
  }

  async #stopping(path: string): Promise<void> {
    this.#stops += 1;
    try {
      await api.post(path);
    } finally {
      this.#stops -= 1;
    }
  }

  async #loadRuns(messages: Message[]): Promise<void> {
    const missing = () =>
      messages.some((m) => m.run_id !== null && !this.#transcript.runs.has(m.run_id));
    while (this.#runsCursor !== null && missing()) {
      const page = await api.get<{ runs: Run[]; next: string | null }>(this.#path("runs"), {
        limit: RUNS_PAGE,
        cursor: this.#runsCursor,
      });
      this.#runsCursor = page.next;
      this.#transcript.addRuns(page.runs);
    }
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
      this.phase = this.phase === "loading" ? "missing" : "deleted";
    } else if (piece.kind === "snapshot") {
      const snapshot = JSON.parse(piece.data) as Snapshot;
      this.#transcript.replace(snapshot);
      this.jobs.replace(snapshot.jobs);
      this.#runsCursor = undefined;
      this.phase = "ready";
    } else if (this.phase === "ready") {
      const event = JSON.parse(piece.data) as Event;
      const outcome = this.#transcript.apply(event);
      if (event.type === "file.changed") this.changes.take(event.change);
      if ("job" in event) this.jobs.take(event.job);
      if (outcome === "torn") this.#restart();
      else if (outcome === "applied") this.onevent(event);
    }
  }

  /** Something does not fit together: a snapshot mends it. */
  #restart(): void {
    this.phase = "loading";
    this.#logs.refollow(this.id);
  }

  #show(): void {
    const transcript = this.#transcript;
    const touched = transcript.take();
    if (touched.session) this.session = transcript.session;
    if (transcript.deleted) this.phase = "deleted";
    if (touched.runs) this.runs = new Map(transcript.runs);
    if (touched.queue) this.#order = transcript.queue;
    if (touched.approvals) this.approvals = [...transcript.approvals.values()];
    if (touched.questions) this.questions = [...transcript.questions.values()];
    if (touched.compactions) this.compactions = transcript.compactions;
    this.more = transcript.more;
    this.#showMessages(touched);
  }

  #showMessages(touched: Touched): void {
    const rows = touched.list ? new Map<string, MessageRow>() : this.#rows;
    if (touched.list) {
      for (const id of this.#transcript.ids()) {
        const known = this.#rows.get(id);
        if (known !== undefined) rows.set(id, known);
        else {
          const message = this.#transcript.message(id);
          if (message !== undefined) rows.set(id, new MessageRow(message));
        }
      }
    }
    for (const id of touched.messages) {
      const row = rows.get(id);
      const message = this.#transcript.message(id);
      if (row !== undefined && message !== undefined) row.message = message;
    }
    if (!touched.list) return;
    this.#rows = rows;
    this.rows = [...rows.values()];
  }

  #path(what: string): string {
    return `/api/sessions/${this.id}/${what}`;
  }
}

function posting(key: string | undefined, signal: AbortSignal | undefined): PostOptions {
  return { ...(key === undefined ? {} : { key }), ...(signal === undefined ? {} : { signal }) };
}

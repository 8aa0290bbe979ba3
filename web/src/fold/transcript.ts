/** The fold of one session's log: events in, view out. Live and reload are this one thing.
 *
 * No event costs more than what it carries, however long the session is. */

import { Growing } from "$/fold/growing";
import { sessionAfter } from "$/fold/session";
import type {
  Approval,
  Compaction,
  Event,
  Message,
  Question,
  Run,
  Session,
  Snapshot,
} from "$/wire/types";

/** What the events since the last `take` have touched. */
export interface Touched {
  /** Ids of messages that look different. */
  messages: Set<string>;
  /** Messages came or went. */
  list: boolean;
  runs: boolean;
  approvals: boolean;
  questions: boolean;
  compactions: boolean;
  queue: boolean;
  session: boolean;
}

/** `torn`: the event does not continue what is here, so only a snapshot can help. */
export type Outcome = "applied" | "seen" | "torn";

export class Transcript {
  head = 0;
  session: Session | null = null;
  deleted = false;
  /** Whether the server has messages before these. */
  more = false;
  readonly runs = new Map<string, Run>();
  readonly approvals = new Map<string, Approval>();
  readonly questions = new Map<string, Question>();
  /** Ids of the queued runs, in the order in which they will start. */
  queue: string[] = [];
  compactions: Compaction[] = [];
  #messages = new Map<string, Growing>();
  #touched = untouched();

  static of(snapshot: Snapshot): Transcript {
    const made = new Transcript();
    made.replace(snapshot);
    return made;
  }

  /** Begin again from a snapshot. */
  replace(snapshot: Snapshot): void {
    this.head = snapshot.seq;
    this.session = snapshot.session;
    this.more = snapshot.more;
    this.deleted = false;
    this.#messages = new Map(snapshot.messages.map((m) => [m.id, new Growing(m)]));
    this.queue = snapshot.queue;
    this.compactions = snapshot.compactions;
    fill(this.runs, snapshot.runs);
    fill(this.approvals, snapshot.approvals);
    fill(this.questions, snapshot.questions);
    this.#touched = {
      messages: new Set(this.#messages.keys()),
      list: true,
      runs: true,
      approvals: true,
      questions: true,
      compactions: true,
      queue: true,
      session: true,
    };
  }

  apply(event: Event): Outcome {
    if (event.seq <= this.head) return "seen";
    if (event.seq !== this.head + 1) return "torn";
    if (!this.#fold(event)) return "torn";
    this.head = event.seq;
    if (this.session !== null) {
      const after = sessionAfter(this.session, event);
      this.#touched.session ||= after !== this.session;
      this.session = after;
    }
    return "applied";
  }

  messages(): Message[] {
    return Array.from(this.#messages.values(), (growing) => growing.now());
  }

  ids(): IterableIterator<string> {
    return this.#messages.keys();
  }

  message(id: string): Message | undefined {
    return this.#messages.get(id)?.now();
  }

  get size(): number {
    return this.#messages.size;
  }

  /** Put older messages before the others. */
  prepend(older: Message[], more: boolean): void {
    const fresh = older.filter((message) => !this.#messages.has(message.id));
    const all = new Map(fresh.map((m) => [m.id, new Growing(m)] as const));
    for (const [id, growing] of this.#messages) all.set(id, growing);
    this.#messages = all;
    this.more = more;
    for (const message of fresh) this.#touched.messages.add(message.id);
    this.#touched.list = true;
  }

  /** Put older runs beside those that are known; a known one is newer. */
  addRuns(older: Run[]): void {
    for (const run of older) if (!this.runs.has(run.id)) this.runs.set(run.id, run);
    this.#touched.runs = true;
  }

  /** What was touched since the last time. */
  take(): Touched {
    const touched = this.#touched;
    this.#touched = untouched();
    return touched;
  }

  /** False if the event is about something that is not here and should be. */
  #fold(event: Event): boolean {
    switch (event.type) {
      case "run.accepted":
      case "run.started":
      case "run.updated":
      case "run.finished":
        this.#run(event.run);
        return true;
      case "message.started":
        this.#messages.set(event.message.id, new Growing(event.message));
        this.#touched.messages.add(event.message.id);
        this.#touched.list = true;
        return true;
      case "part.started":
      case "part.delta":
      case "part.updated":
      case "message.finished":
        return this.#grow(event);
      case "approval.requested":
      case "approval.resolved":
        this.approvals.set(event.approval.id, event.approval);
        this.#touched.approvals = true;
        return true;
      case "question.asked":
      case "question.answered":
        this.questions.set(event.question.id, event.question);
        this.#touched.questions = true;
        return true;
      case "session.rewound":
        this.#remove(event.removed);
        return true;
      case "session.compacted": {
        const { through_message_id, through_part_id, summary } = event;
        const compaction = { through_message_id, through_part_id, summary };
        this.compactions = [...this.compactions, compaction];
        this.#touched.compactions = true;
        return true;
      }
      case "session.updated":
        if (event.changes.queue !== undefined) {
          this.queue = event.changes.queue;
          this.#touched.queue = true;
        }
        this.#reveal(event.changes.runs ?? {});
        return true;
      case "session.deleted":
        this.deleted = true;
        this.#touched.session = true;
        return true;
      case "job.started":
      case "job.updated":
      case "job.ended":
      case "file.changing":
      case "file.changed":
        // Of no message: whoever looks at changes and jobs is told by the event itself.
        return true;
      case "session.created":
        return true;
    }
  }

  /** A vote shows what was hidden of runs that have ended. */
  #reveal(hidden: Record<string, Partial<Run>>): void {
    for (const [id, shown] of Object.entries(hidden)) {
      const run = this.runs.get(id);
      if (run === undefined) continue;
      this.runs.set(id, { ...run, ...shown });
      this.#touched.runs = true;
    }
  }

  #grow(
    event: Extract<
      Event,
      { type: "part.started" | "part.delta" | "part.updated" | "message.finished" }
    >,
  ): boolean {
    const growing = this.#messages.get(event.message_id);
    if (growing === undefined) return false;
    this.#touched.messages.add(event.message_id);
    switch (event.type) {
      case "part.started":
        growing.start(event.part);
        return true;
      case "part.delta":
        return growing.grow(event.part_id, event.offset, event.text, event.field);
      case "part.updated":
        return growing.update(event.part);
      case "message.finished":
        growing.finish(event.finish_reason);
        return true;
    }
  }

  #run(run: Run): void {
    this.runs.set(run.id, run);
    this.#touched.runs = true;
    const waits = this.queue.includes(run.id);
    if (run.status === "queued" && !waits) this.queue = [...this.queue, run.id];
    else if (run.status !== "queued" && waits)
      this.queue = this.queue.filter((id) => id !== run.id);
    else return;
    this.#touched.queue = true;
  }

  #remove(removed: string[]): void {
    for (const id of removed) this.#messages.delete(id);
    this.#touched.list = true;
    const gone = new Set(removed);
    const kept = this.compactions.filter((one) => !gone.has(one.through_message_id));
    this.#touched.compactions ||= kept.length !== this.compactions.length;
    this.compactions = kept;
  }
}

function untouched(): Touched {
  return {
    messages: new Set(),
    list: false,
    runs: false,
    approvals: false,
    questions: false,
    compactions: false,
    queue: false,
    session: false,
  };
}

function fill<T extends { id: string }>(map: Map<string, T>, items: T[]): void {
  map.clear();
  for (const item of items) map.set(item.id, item);
}

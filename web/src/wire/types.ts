/** What the server says, as it is on the wire. */

export type RunStatus = "queued" | "running" | "completed" | "cancelled" | "failed" | "interrupted";
export type WhenBusy = "queue" | "steer" | "interrupt" | "reject";
export type Mode = "agent" | "chat" | "compact";
export type SessionState = "idle" | "running" | "waiting";
export type ToolState =
  | "input_streaming"
  | "waiting_approval"
  | "running"
  | "done"
  | "failed"
  | "denied"
  | "cancelled"
  | "interrupted";

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  exact: boolean;
  cost_usd: number | null;
}

export interface TextPart {
  id: string;
  type: "text";
  text: string;
}

export interface ReasoningPart {
  id: string;
  type: "reasoning";
  text: string;
}

export interface FilePart {
  id: string;
  type: "file";
  file_id: string;
  name: string;
  media_type: string;
  size: number;
}

export interface ToolPart {
  id: string;
  type: "tool";
  call_id: string;
  name: string;
  input: Record<string, unknown> | null;
  input_text: string;
  state: ToolState;
  output: string | null;
  error: string | null;
}

export type Part = TextPart | ReasoningPart | FilePart | ToolPart;

export type InputPart = { type: "text"; text: string } | { type: "file"; file_id: string };
export type Input = string | InputPart[];

export interface RunError {
  code: string;
  message: string;
}

export interface Run {
  id: string;
  session_id: string;
  status: RunStatus;
  reason: string | null;
  error: RunError | null;
  model: string | null;
  mode: Mode;
  when_busy: WhenBusy;
  on_disconnect: "continue" | "cancel";
  accept_number: number;
  accepted_at: string;
  started_at: string | null;
  finished_at: string | null;
  input: Input;
  steered_into: string | null;
  continues: string | null;
  usage: Usage;
}

export interface Message {
  id: string;
  session_id: string;
  /** null in a fork: no run of that session made the message. */
  run_id: string | null;
  role: "user" | "assistant";
  parts: Part[];
  finish_reason: string | null;
  created_at: string;
}

export interface Session {
  id: string;
  workspace_id: string;
  title: string;
  title_source: "provisional" | "auto" | "user";
  model: string | null;
  system: string | null;
  pinned: boolean;
  archived: boolean;
  draft: string;
  created_at: string;
  updated_at: string;
  head: number;
  state: SessionState;
  active_run: string | null;
  queued: number;
  waiting_approvals: number;
  usage: Usage;
  /** Tools that were allowed for the whole session. */
  grants: string[];
}

export interface Approval {
  id: string;
  session_id: string;
  run_id: string;
  call_id: string;
  tool: string;
  input: Record<string, unknown>;
  state: "pending" | "allowed" | "denied" | "cancelled";
  decided_by: string | null;
  note: string | null;
}

/** What the model is told instead of all messages up to one. */
export interface Compaction {
  through_message_id: string;
  summary: string;
}

export interface FileInfo {
  id: string;
  name: string;
  media_type: string;
  size: number;
}

export interface Workspace {
  id: string;
  name: string;
  path: string;
}

export interface Model {
  id: string;
  name: string;
  provider: string;
  context_window: number | null;
  capabilities: string[];
  price: unknown;
}

interface Common {
  seq: number;
  session_id: string;
  run_id: string | null;
  at: string;
}

export type RunEventType = "run.accepted" | "run.started" | "run.updated" | "run.finished";

export type Event = Common &
  (
    | { type: RunEventType; run: Run }
    | { type: "message.started"; message: Message }
    | { type: "part.started" | "part.updated"; message_id: string; part: Part }
    | { type: "part.delta"; message_id: string; part_id: string; offset: number; text: string }
    | { type: "message.finished"; message_id: string; finish_reason: string }
    | { type: "approval.requested" | "approval.resolved"; approval: Approval }
    | { type: "session.updated"; changes: SessionChanges }
    /** Only in the workspace's log: a session's own log begins after it. */
    | { type: "session.created"; session: Session }
    | { type: "session.rewound"; removed: string[] }
    | { type: "session.deleted" }
    | { type: "session.compacted"; through_message_id: string; summary: string }
  );

/** What has changed of a session, and of its runs: their order, or what a vote reveals of them. */
export type SessionChanges = Partial<Session> & {
  queue?: string[];
  runs?: Record<string, Partial<Run>>;
};

export interface Snapshot {
  type: "snapshot";
  seq: number;
  session_id: string;
  session: Session;
  messages: Message[];
  /** Unfinished ones and the newest hundred, oldest first. */
  runs: Run[];
  /** Pending ones. */
  approvals: Approval[];
  /** The queued runs, in the order in which they will start. */
  queue: string[];
  compactions: Compaction[];
  /** Whether there are messages before these. */
  more: boolean;
}

export interface WorkspaceSnapshot {
  type: "snapshot";
  seq: number;
  workspace: Workspace;
  sessions: Session[];
  /** Cursor of the next page of sessions; null: there is none. */
  next: string | null;
  runs: Run[];
}

/** The answer to a stream's frame whose log does not exist (any more). */
export interface Gone {
  log: string;
}

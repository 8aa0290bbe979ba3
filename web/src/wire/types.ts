/** What the server says, by the names that the page has for it. */

import type * as server from "./server";

export type {
  Approval,
  DayUsage,
  Decision,
  Effort,
  FileChange,
  FileInfo,
  FilePart,
  Inquiry,
  Job,
  Message,
  Mode,
  Model,
  PartField,
  Question,
  ReasoningPart,
  Reverted,
  Rule,
  Run,
  Session,
  TextPart,
  ToolPart,
  ToolState,
  Usage,
  Waiting,
  WhenBusy,
  Word,
  Workspace,
} from "./server";

export type Part = server.Message["parts"][number];

/** A part as an update tells it: of a tool call, what is left out stays as it was. */
export type Changed = server.PartUpdated["part"];

/** The server fills in what else describes a file. */
export type InputPart =
  server.InputText | (Pick<server.InputFile, "type" | "file_id"> & Partial<server.InputFile>);
export type Input = string | InputPart[];

/** An event as it is in a log, with its place there. */
export type Event = server.Event & { seq: number };

/** What the model is told instead of all messages up to one, or up to a part inside it. */
export type Compaction = Pick<
  server.SessionCompacted,
  "through_message_id" | "through_part_id" | "summary"
>;

export interface Snapshot {
  type: "snapshot";
  seq: number;
  session_id: string;
  session: server.Session;
  messages: server.Message[];
  /** Unfinished ones and the newest hundred, oldest first. */
  runs: server.Run[];
  /** Pending ones. */
  approvals: server.Approval[];
  /** Pending ones. */
  questions: server.Question[];
  /** Running ones. */
  jobs: server.Job[];
  /** The queued runs, in the order in which they will start. */
  queue: string[];
  compactions: Compaction[];
  /** Whether there are messages before these. */
  more: boolean;
}

export interface WorkspaceSnapshot {
  type: "snapshot";
  seq: number;
  workspace: server.Workspace;
  sessions: server.Session[];
  /** Cursor of the next page of sessions; null: there is none. */
  next: string | null;
  runs: server.Run[];
}

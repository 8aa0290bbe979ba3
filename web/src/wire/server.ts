/** What the server takes and says, written from its OpenAPI document by `make docs`. */

export interface About {
  name: string;
  version: string;
  embedded: Embedded;
  sandbox: Sandboxing;
  started_at: string;
}

export type AnsweredBy = "run" | "steer" | "user";

export interface Approval {
  id: string;
  session_id: string;
  root_session_id?: string;
  run_id: string;
  call_id: string;
  part_id?: string;
  tool: string;
  input: Record<string, unknown>;
  subject?: Subject;
  suggestions: Suggestion[];
  state: ApprovalState;
  decided_by: string | null;
  note: string | null;
}

export interface ApprovalList {
  approvals: Approval[];
}

export interface ApprovalRequested {
  type: "approval.requested";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  approval: Approval;
}

export interface ApprovalResolved {
  type: "approval.resolved";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  approval: Approval;
}

export type ApprovalState = "allowed" | "cancelled" | "denied" | "pending";

export interface Ballot {
  winner: number | "none" | "tie";
}

export interface CancelBody {
  queue?: Waiters;
  jobs?: boolean;
}

export interface CancelReceipt {
  cancelled: string[];
  held: string[];
  head: number;
  settled: boolean;
}

export type ChangeKind = "created" | "deleted" | "edited";

export interface ChangeList {
  changes: FileChange[];
}

export type ChangeState = "conflict" | "not_revertible" | "reverted" | "revertible";

/** What the sub-agents of a run used. It is in their own runs' usage, and in no other. */
export interface ChildUsage {
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  exact: boolean;
  cost_usd: number | null;
}

export interface Choice {
  index: number;
}

export interface CompactionDone {
  run: Run;
  head: number;
}

export interface ComparisonDraft {
  models: string[];
  blind?: boolean;
  workspace?: string | null;
  mode?: "agent" | "chat";
}

export interface ComparisonList {
  comparisons: ShownComparison[];
  next: string | null;
}

export interface DayUsage {
  day: string;
  model: string | null;
  kind: UsageKind;
  runs: number;
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  exact: boolean;
  cost_usd: number | null;
}

export type Decision = "allow_always" | "allow_once" | "allow_session" | "deny";

export interface Edit {
  message_id: string;
  input: string | (InputText | InputFile)[];
  model?: string | null;
}

/** How hard to think. A model that has no such step takes the next lower that it has. */
export type Effort = "high" | "low" | "max" | "medium" | "none";

/** The model that comes with the server. */
export interface Embedded {
  available: boolean;
  fetched: boolean;
}

export type Event =
  | RunAccepted
  | RunStarted
  | RunUpdated
  | RunFinished
  | MessageStarted
  | MessageFinished
  | PartStarted
  | PartDelta
  | PartUpdated
  | ApprovalRequested
  | ApprovalResolved
  | FileChanging
  | FileChanged
  | JobStarted
  | JobUpdated
  | JobEnded
  | QuestionAsked
  | QuestionAnswered
  | SessionCreated
  | SessionUpdated
  | SessionRewound
  | SessionCompacted
  | SessionDeleted;

/** All that there is of a session. */
export interface Export {
  exported_at: string;
  session: Session;
  messages: Message[];
  runs: Run[];
  approvals: Approval[];
  questions: Question[];
}

/** All that one run did to one path, from its first change to its last. */
export interface FileChange {
  id: string;
  session_id: string;
  run_id: string;
  call_id: string;
  path: string;
  kind: ChangeKind;
  added: number;
  removed: number;
  diff: string;
  state: ChangeState;
  why: string;
  tool: string;
  by: string;
  before: FileState | null;
  after: FileState | null;
  next?: FileState | null;
  folders: string[];
}

export interface FileChanged {
  type: "file.changed";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  change: FileChange;
}

/** It is about to be done: what was there is kept. */
export interface FileChanging {
  type: "file.changing";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  change: FileChange;
}

export interface FileInfo {
  id: string;
  name: string;
  media_type: string;
  size: number;
  by: string;
  created_at: string;
}

export interface FilePart {
  type: "file";
  id: string;
  file_id: string;
  name: string;
  media_type: string;
  size: number;
}

/** A file as it was at one moment. */
export interface FileState {
  digest: string;
  size: number;
  mode: number;
  link: boolean;
  file_id: string | null;
}

export interface Fork {
  message_id?: string | null;
}

/** Something in a workspace that tells agents how to work there. */
export interface Guide {
  kind: string;
  name: string;
  about: string;
  path: string;
}

export interface GuideList {
  instructions: Guide[];
}

export interface Health {
  status: string;
}

/** A file of a prompt; what describes it is filled in by the server when it is accepted. */
export interface InputFile {
  type: "file";
  file_id: string;
  name: string;
  media_type: string;
  size: number;
}

export interface InputText {
  type: "text";
  text: string;
}

/** One of the questions that are asked together. */
export interface Inquiry {
  question: string;
  options: Option[];
  multiple: boolean;
}

export interface Job {
  id: string;
  session_id: string;
  run_id: string;
  call_id: string;
  name: string;
  command: string;
  cwd: string;
  node: string;
  state: JobState;
  stopping: boolean;
  exit_code: number | null;
  printed: JobPrint;
  started_at: string;
  ended_at: string | null;
  told: JobTold | null;
}

/** Nothing of it runs any more. */
export interface JobEnded {
  type: "job.ended";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  job: Job;
}

export interface JobList {
  jobs: Job[];
}

/** What is told of what it printed. */
export interface JobPrint {
  tail: string;
  characters: number;
}

export interface JobStarted {
  type: "job.started";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  job: Job;
}

export type JobState = "ended" | "interrupted" | "running" | "stopped";

/** Where in the conversation the model was told that it has ended. */
export interface JobTold {
  message_id: string;
  part_id: string | null;
}

/** It printed something, is told to stop, or the model was told of it. */
export interface JobUpdated {
  type: "job.updated";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  job: Job;
}

export type KeyWish = "needed" | "optional";

export interface McpArgument {
  name: string;
  about: string;
  required: boolean;
}

export interface McpChange {
  command?: string;
  args?: string[];
  env?: Record<string, string | null>;
  url?: string;
  headers?: Record<string, string | null>;
  tools?: string[] | null;
  trust?: boolean;
  timeout?: number;
  enabled?: boolean;
}

/** The `.mcp.json` of a workspace's folder. */
export interface McpFile {
  hash: string;
  allowed: boolean;
  error: string | null;
}

export interface McpFileWord {
  hash: string | null;
}

export interface McpList {
  servers: McpNow[];
  file: McpFile | null;
}

export interface McpNow {
  name: string;
  transport: McpTransport;
  state: McpState;
  error: string | null;
  tools: McpToolNow[];
  resources: McpResource[];
  prompts: McpPrompt[];
  source: McpSource;
  command: string;
  args: string[];
  env: string[];
  url: string;
  headers: string[];
  offered: string[] | null;
  trust: boolean;
  timeout: number;
  enabled: boolean;
  login_url: string | null;
}

export interface McpPrompt {
  name: string;
  about: string;
  arguments: McpArgument[];
}

export interface McpReading {
  uri: string;
  workspace?: string;
}

export interface McpResource {
  uri: string;
  name: string;
  about: string;
  media_type: string;
}

/** Where the server knows it from. Only those of the settings can be changed. */
export type McpSource = "file" | "settings" | "workspace";

export type McpState = "failed" | "idle" | "needs_login" | "off" | "ready" | "starting";

export interface McpToolNow {
  name: string;
  about: string;
  changes: boolean;
}

export type McpTransport = "http" | "stdio";

export interface McpWhere {
  workspace?: string;
}

export interface Message {
  id: string;
  session_id: string;
  run_id: string | null;
  role: "assistant" | "user";
  parts: (TextPart | ReasoningPart | FilePart | ToolPart)[];
  finish_reason: string | null;
  created_at: string;
}

export interface MessageFinished {
  type: "message.finished";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  message_id: string;
  finish_reason: string;
}

/** The whole transcript, or the part of it that `limit` and `before` ask for. */
export interface MessageList {
  messages: Message[];
  head: number;
  before: string | null;
}

export interface MessageStarted {
  type: "message.started";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  message: Message;
}

export type Mode = "agent" | "chat" | "compact";

export interface Model {
  id: string;
  name: string;
  provider: string;
  context_window: number;
  capabilities: string[];
  max_output: number | null;
  efforts: Effort[];
  price: Price | null;
  source: string;
}

export interface ModelList {
  models: Model[];
  default: string | null;
}

export interface NewWorkspace {
  name: string;
  path: string;
  home?: string | null;
}

export interface NodeList {
  nodes: NodeStanding[];
}

/** A node, and how it stands now. */
export interface NodeStanding {
  id: string;
  name: string;
  version: string;
  state: NodeState;
  started_at: string;
  seen_at: string;
  active_runs: number;
}

export type NodeState = "alive" | "draining" | "gone";

export type OnDisconnect = "cancel" | "continue";

/** What becomes of a prompt whose run a stop or a crash of the server ends. */
export type OnInterrupt = "continue" | "stop";

export interface Option {
  label: string;
  about: string;
}

/** What a wire has no word for is left out. Raises InvalidInput for what no model could take. */
export interface Options {
  temperature?: number | null;
  top_p?: number | null;
  max_output_tokens?: number | null;
  stop?: string[] | null;
  seed?: number | null;
  response_format?: Record<string, unknown> | null;
  metadata?: Record<string, string> | null;
}

/** The comparison that a session is a pane of. */
export interface PaneOf {
  id: string;
  index: number;
  label: string;
  mode: Mode;
  blind: boolean;
  voted: boolean;
}

export interface PaneRuns {
  runs: Run[];
}

export type PaneState = "deleted" | "kept" | "open";

export interface PanesPrompt {
  input?: string | (InputText | InputFile)[] | null;
  panes?: number[] | null;
  on_disconnect?: OnDisconnect;
}

/** The call that a session is the sub-agent of. */
export interface ParentCall {
  session_id: string;
  run_id: string;
  call_id: string;
}

export interface PartDelta {
  type: "part.delta";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  message_id: string;
  part_id: string;
  field?: PartField;
  offset: number;
  text: string;
}

/** What of a part a delta adds to. */
export type PartField = "input" | "output" | "text";

export interface PartStarted {
  type: "part.started";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  message_id: string;
  part: TextPart | ReasoningPart | FilePart | ToolPart;
}

export interface PartUpdated {
  type: "part.updated";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  message_id: string;
  part: TextPart | ReasoningPart | FilePart | ToolChange;
}

export type Permission = "allow" | "ask" | "deny";

export interface Preset {
  name: string;
  title: string;
  kind: ProviderKind;
  base_url: string;
  key: KeyWish;
  variable: string;
  about: string;
}

/** Dollars per million tokens. */
export interface Price {
  input: number;
  output: number;
  cache_read: number | null;
  cache_write: number | null;
}

/** An error as `application/problem+json`. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
}

export interface PromptBody {
  input: string | (InputText | InputFile)[];
  model?: string | null;
  mode?: "agent" | "chat" | null;
  when_busy?: WhenBusy;
  on_disconnect?: OnDisconnect;
  on_interrupt?: OnInterrupt;
  effort?: Effort | null;
  options?: Options | null;
  attended?: boolean;
}

export interface ProviderChange {
  kind?: ProviderKind | null;
  base_url?: string | null;
  key?: string | null;
  models?: string[] | null;
}

/** The wire that a provider speaks. */
export type ProviderKind = "anthropic" | "ollama" | "openai" | "openai-responses";

export interface ProviderList {
  providers: ProviderNow[];
  presets: Preset[];
}

export interface ProviderNow {
  name: string;
  kind: ProviderKind;
  base_url: string;
  key: "missing" | "set";
  source: ProviderSource;
  models: string[];
  offers: number;
  error: string | null;
}

/** Where the server knows a provider from. Only those of the settings can be changed. */
export type ProviderSource = "environment" | "file" | "local" | "settings";

export interface ProviderTry {
  name?: string | null;
  kind?: ProviderKind | null;
  base_url?: string | null;
  key?: string | null;
  models?: string[] | null;
}

export interface Question {
  id: string;
  session_id: string;
  root_session_id: string;
  run_id: string;
  call_id: string;
  part_id: string;
  questions: Inquiry[];
  state: QuestionState;
  answers: string[][];
  answered_by: AnsweredBy | null;
}

/** It is no longer open: answered, dismissed, or its run has ended. */
export interface QuestionAnswered {
  type: "question.answered";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  question: Question;
}

export interface QuestionAsked {
  type: "question.asked";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  question: Question;
}

export interface QuestionList {
  questions: Question[];
}

export type QuestionState = "answered" | "cancelled" | "dismissed" | "pending";

/** What a person says to a question: an answer to each, or that there will be none. */
export interface QuestionWord {
  answers?: string[][] | null;
  dismiss?: boolean;
}

export interface QueuedChange {
  input?: string | (InputText | InputFile)[] | null;
  position?: number | null;
  when_busy?: "steer" | null;
  held?: boolean | null;
}

/** Why a run ended the way it did. */
export type Reason =
  | "budget"
  | "content_filter"
  | "deleted"
  | "disconnect"
  | "end_turn"
  | "internal"
  | "loop"
  | "max_tokens"
  | "model_not_found"
  | "no_response"
  | "provider_error"
  | "provider_stalled"
  | "replaced"
  | "server_crashed"
  | "server_stopped"
  | "step_limit"
  | "storage"
  | "time_limit"
  | "too_large"
  | "user"
  | "withdrawn";

export interface ReasoningPart {
  type: "reasoning";
  id: string;
  text: string;
  seal?: Seal;
}

export interface Released {
  released: string[];
  head: number;
}

export interface Retry {
  model?: string | null;
}

export interface Revert {
  paths?: string[] | null;
  redo?: boolean;
}

export interface RevertConflict {
  path: string;
  why: string;
}

export interface Reverted {
  reverted: string[];
  conflicts: RevertConflict[];
}

export interface Rewound {
  removed: string[];
  head: number;
}

export interface Rule {
  tool: string;
  pattern: string | null;
  decision: Permission;
}

export interface RuleDraft {
  tool: string;
  pattern?: string | null;
  decision: Permission;
}

export interface Run {
  id: string;
  session_id: string;
  by: string;
  status: RunStatus;
  reason: Reason | null;
  error: RunError | null;
  model: string | null;
  mode: Mode;
  when_busy: WhenBusy;
  on_disconnect: OnDisconnect;
  accept_number: number;
  accepted_at: string;
  started_at: string | null;
  finished_at: string | null;
  input: string | (InputText | InputFile)[];
  held: boolean;
  steered_into: string | null;
  continues: string | null;
  on_interrupt: OnInterrupt;
  continued: number;
  effort: Effort | null;
  options: Options | null;
  attended: boolean;
  parent_run?: string;
  tools?: ToolScope;
  waiting: Waiting | null;
  notices: string[];
  usage: Usage;
}

export interface RunAccepted {
  type: "run.accepted";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  run: Run;
}

export interface RunError {
  code: string;
  message: string;
}

export interface RunFinished {
  type: "run.finished";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  run: Run;
}

export interface RunPage {
  runs: Run[];
  next: string | null;
}

/** What a vote shows of a run. */
export interface RunShown {
  model: string | null;
  error: RunError | null;
  usage: Usage;
}

export interface RunStarted {
  type: "run.started";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  run: Run;
}

export type RunStatus = "cancelled" | "completed" | "failed" | "interrupted" | "queued" | "running";

export interface RunUpdated {
  type: "run.updated";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  run: Run;
}

export type SandboxKind = "bubblewrap" | "landlock" | "none";

export type SandboxWish = "auto" | "off" | "on";

/** What was wanted, and what holds. */
export interface Sandboxing {
  wanted: SandboxWish;
  kind: SandboxKind;
  abi: number | null;
  about: string;
}

export interface Scoreboard {
  votes: number;
  models: Standing[];
}

/** What a provider made for itself along with a part: kept as it came, and given back unread. */
export interface Seal {
  wire: string;
  model: string;
  data: string;
}

/** What everyone may see of a session. A fold of its log. */
export interface Session {
  id: string;
  workspace_id: string;
  by: string;
  title: string;
  title_source: TitleSource;
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
  waiting_questions: number;
  usage: Usage;
  grants: string[];
  comparison: PaneOf | null;
  parent?: ParentCall;
}

export interface SessionChange {
  title?: string;
  model?: string | null;
  pinned?: boolean;
  archived?: boolean;
  draft?: string;
  system?: string | null;
}

/** What is new about a session. What is UNSET is as it was, and is not told. */
export interface SessionChanges {
  title?: string;
  title_source?: TitleSource;
  model?: string | null;
  system?: string | null;
  pinned?: boolean;
  archived?: boolean;
  draft?: string;
  usage?: Usage;
  grants?: string[];
  comparison?: PaneOf | null;
  queue?: string[];
  runs?: Record<string, RunShown>;
}

export interface SessionCompacted {
  type: "session.compacted";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  through_message_id: string;
  through_part_id: string | null;
  summary: string;
}

/** Only in the workspace's log: a session's own log begins after it. */
export interface SessionCreated {
  type: "session.created";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  session: Session;
}

export interface SessionDeleted {
  type: "session.deleted";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
}

export interface SessionDraft {
  workspace?: string | null;
  title?: string | null;
  model?: string | null;
  system?: string | null;
}

export interface SessionPage {
  sessions: Session[];
  next: string | null;
  head: number | null;
}

export interface SessionRewound {
  type: "session.rewound";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  removed: string[];
}

export type SessionState = "idle" | "running" | "waiting";

export interface SessionUpdated {
  type: "session.updated";
  session_id: string;
  run_id: string | null;
  at: string;
  by?: string;
  changes: SessionChanges;
}

/** Any of them; null gives one back to the configuration. */
export interface SettingsChange {
  default_model?: string | null;
  titles?: boolean | null;
  permission_default?: Permission | null;
  permissions?: Record<string, Permission | null>;
}

export interface SettingsNow {
  default_model: string | null;
  titles: boolean;
  permission_default: Permission;
  permissions: Record<string, Permission>;
  tools: ToolRule[];
  sandbox: Sandboxing;
  fixed: Record<string, string>;
}

/** What anyone may see of a comparison. */
export interface ShownComparison {
  id: string;
  workspace_id: string;
  title: string;
  mode: Mode;
  blind: boolean;
  voted: boolean;
  winner: number | "none" | "tie" | null;
  voted_at: string | null;
  by: string;
  created_at: string;
  panes: ShownPane[];
}

export interface ShownPane {
  index: number;
  label: string;
  session_id: string;
  model: string | null;
  state: PaneState;
}

export interface Standing {
  model: string;
  games: number;
  wins: number;
  ties: number;
  losses: number;
  rating: number;
  interval: [number, number];
}

/** What one call is about, as rules see it. */
export interface Subject {
  tool: string;
  kind: SubjectKind;
  things: (string | string[])[];
  also: string[];
  unclear: string;
}

export type SubjectKind = "command" | "host" | "nothing" | "path";

/** A rule that the server offers; a client says only which. */
export interface Suggestion {
  pattern: string;
  about: string;
}

/** What a provider said when it was tried. */
export interface Tested {
  ok: boolean;
  models: string[];
  error: string | null;
}

export interface TextPart {
  type: "text";
  id: string;
  text: string;
  expanded?: string;
}

export type TitleSource = "auto" | "provisional" | "user";

/** A tool call as it is from now on; of what is left out, nothing has changed. */
export interface ToolChange {
  type: "tool";
  id: string;
  call_id: string;
  name: string;
  input?: Record<string, unknown>;
  input_text?: string;
  state: ToolState;
  output?: string | null;
  error: string | null;
  details?: Record<string, unknown>;
  files?: ToolFile[];
  seal?: Seal;
}

/** A file that a tool gave along with its result: an image, as a rule. */
export interface ToolFile {
  file_id: string;
  name: string;
  media_type: string;
  size: number;
}

export interface ToolPart {
  type: "tool";
  id: string;
  call_id: string;
  name: string;
  input: Record<string, unknown> | null;
  input_text: string;
  state: ToolState;
  output: string | null;
  error: string | null;
  details?: Record<string, unknown>;
  files?: ToolFile[];
  seal?: Seal;
}

export interface ToolRule {
  name: string;
  about: string;
  changes: boolean;
  permission: Permission;
}

/** Which tools a sub-agent has. */
export type ToolScope = "all" | "look";

export type ToolState =
  | "cancelled"
  | "denied"
  | "done"
  | "failed"
  | "input_streaming"
  | "interrupted"
  | "running"
  | "waiting_approval";

/** What was used. Sums stop at the most that everyone can hold. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  exact: boolean;
  cost_usd: number | null;
  children?: ChildUsage;
}

export interface UsageByDay {
  days: DayUsage[];
}

/** What it was for. */
export type UsageKind = "run" | "sub_agent" | "summary" | "title";

/** What a cancel of a session does to the runs that wait. */
export type Waiters = "cancel" | "hold";

/** A run does nothing now but wait: for its provider, or for the node that its folder is on. */
export interface Waiting {
  reason: string;
  attempt: number;
  until: string | null;
}

export type WhenBusy = "interrupt" | "queue" | "reject" | "steer";

/** What a person says to an approval. */
export interface Word {
  decision: Decision;
  suggestion?: number | null;
  note?: string | null;
}

export interface Workspace {
  id: string;
  name: string;
  path: string;
  home: string | null;
  rules: Rule[];
  by: string;
  created_at: string;
}

export interface WorkspaceChange {
  name?: string | null;
  path?: string | null;
  home?: string | null;
  rules?: RuleDraft[] | null;
}

export interface WorkspaceList {
  workspaces: Workspace[];
}

/** The server's settings as they are on the wire. */

export type Permission = "ask" | "allow" | "deny";

export interface ServerSettings {
  default_model: string | null;
  titles: boolean;
  permission_default: Permission;
  /** What was set for single tools. */
  permissions: Record<string, Permission>;
  tools: ToolRule[];
  /** Those that cannot be changed here, and the flag or variable that sets each. */
  fixed: Record<string, string>;
}

export interface ToolRule {
  name: string;
  about: string;
  /** It changes something or reaches out: the default is for it. */
  changes: boolean;
  permission: Permission;
}

/** null gives one back to the server's configuration. */
export interface SettingsChange {
  default_model?: string | null;
  titles?: boolean;
  permission_default?: Permission;
  permissions?: Record<string, Permission | null>;
}

export type ProviderKind = "openai" | "anthropic";

export interface Provider {
  name: string;
  kind: ProviderKind;
  base_url: string;
  key: "set" | "missing";
  source: "environment" | "file" | "settings" | "local";
  /** The names that were set by hand. */
  models: string[];
  /** How many models it offers now. */
  offers: number;
  /** Why it could not be asked for its models. */
  error: string | null;
}

export interface About {
  name: string;
  version: string;
  embedded: { available: boolean; fetched: boolean };
  started_at: string;
}

export interface ProviderDraft {
  kind?: ProviderKind;
  base_url?: string;
  key?: string;
  models?: string[];
}

export interface TestResult {
  ok: boolean;
  models: string[];
  error: string | null;
}

/** The server's settings, by the names that the page has for them. */

export type {
  About,
  Permission,
  ProviderChange as ProviderDraft,
  ProviderKind,
  ProviderNow as Provider,
  ProviderTry,
  SettingsChange,
  SettingsNow as ServerSettings,
  Tested as TestResult,
  ToolRule,
} from "./server";

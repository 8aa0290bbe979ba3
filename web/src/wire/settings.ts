/** The server's settings, by the names that the page has for them. */

export type {
  About,
  McpChange as McpDraft,
  McpList,
  McpNow,
  NodeList,
  NodeStanding as ServerNode,
  Permission,
  Preset,
  ProviderChange as ProviderDraft,
  ProviderList,
  ProviderNow as Provider,
  ProviderTry,
  SettingsChange,
  SettingsNow as ServerSettings,
  Tested as TestResult,
  ToolRule,
} from "./server";

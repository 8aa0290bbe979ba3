/** The pages of the settings, as the palette finds them. */
export const SETTINGS: { section: string; label: string; words: string }[] = [
  { section: "providers", label: "Providers", words: "add model key api openai anthropic ollama" },
  { section: "models", label: "Models", words: "default model titles" },
  { section: "permissions", label: "Permissions", words: "tools ask allow deny shell" },
  { section: "workspaces", label: "Workspaces", words: "folder project path" },
  { section: "appearance", label: "Appearance", words: "theme dark light text size notifications" },
  { section: "archived", label: "Archived sessions", words: "restore old" },
  { section: "about", label: "About Tenuto", words: "version nodes log out" },
];

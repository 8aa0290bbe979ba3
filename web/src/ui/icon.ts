import type { LucideProps } from "@lucide/svelte";
import type { Component } from "svelte";

/** Any icon of the set; import each by itself: `@lucide/svelte/icons/square`. */
export type Icon = Component<LucideProps>;

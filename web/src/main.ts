import "$/styles/tokens.css";
import "$/styles/base.css";
import App from "$/app.svelte";
import { app } from "$/state/page";
import { mount } from "svelte";

app.start();

const target = document.getElementById("app");
if (target === null) throw new Error("The page has no place for the app.");
mount(App, { target });

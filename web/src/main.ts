import "$/styles/tokens.css";
import "$/styles/base.css";
import App from "$/app.svelte";
import { app } from "$/state/app.svelte";
import { mount } from "svelte";

// A part of the page that is fetched later is gone when the server has been given a newer page.
addEventListener("vite:preloadError", (event) => {
  event.preventDefault();
  app.say("A newer version of this page is ready.", {
    seconds: 60,
    action: { label: "Reload", do: () => location.reload() },
  });
});

app.start();

const target = document.getElementById("app");
if (target === null) throw new Error("The page has no place for the app.");
mount(App, { target });

// Before the first picture: a page that is dark must not begin white.
try {
  const { theme } = JSON.parse(localStorage.getItem("tenuto.preferences") ?? "{}");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Nothing is kept: the system's colours are right.
}

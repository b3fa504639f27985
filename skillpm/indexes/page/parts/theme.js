// The theme. It is shown before the skills have arrived.

const THEMES = { auto: "same as system", light: "light", dark: "dark" };

function storedTheme() {
  try {
    const theme = localStorage.getItem("skillpm-theme");
    return theme in THEMES ? theme : "auto";
  } catch {
    return "auto";
  }
}

function showTheme(name) {
  document.documentElement.dataset.theme = name;
  const button = byId("theme");
  button.replaceChildren(icon(name));
  button.title = `Theme: ${THEMES[name]}`;
  button.setAttribute("aria-label", button.title);
}

function nextTheme() {
  const names = Object.keys(THEMES);
  const name = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
  showTheme(name);
  try {
    localStorage.setItem("skillpm-theme", name);
  } catch {
    // Some browsers have no storage for local files; the theme then lasts until the page is closed.
  }
  announce(byId("theme").title);
}

showTheme(storedTheme());
byId("theme").addEventListener("click", nextTheme);

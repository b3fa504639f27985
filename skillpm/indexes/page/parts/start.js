// What the address says is what is seen; and the page's own buttons.

const THEMES = { auto: "as the system says", light: "light", dark: "dark" };
let waiting = 0;

function route() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split(/\?(.*)/s);
  const name = /^\/skill\/(.*)$/s.exec(path)?.[1];
  const state = history.state ?? {};
  at("list-view").hidden = name !== undefined;
  at("skill-view").hidden = name === undefined;
  if (name !== undefined) {
    history.replaceState({ ...state, inside: state.inside ?? cameFromList }, "");
    openSkill(decoded(name));
    scrollTo(0, 0);
    at("skill-view").querySelector("h1").focus({ preventScroll: true });
  } else {
    current = "";
    readAddress(query);
    if (at("search").value !== asked.query) at("search").value = asked.query;
    document.title = `${index.name} · skills`;
    refresh(Math.max(FIRST, state.shown ?? 0));
    const row = state.open && at("results").querySelector(`a[data-name="${CSS.escape(state.open)}"]`);
    row?.focus({ preventScroll: true });
    scrollTo(0, 0);
    if (row) putBack(row, state.top, 3);
  }
  cameFromList = name === undefined;
}
let cameFromList = false;

// Where a row was in the window, there it is again. Rows that were never seen have a height that is only guessed, so
// that what was right may be wrong a frame later.
function putBack(row, top, times) {
  scrollBy(0, row.getBoundingClientRect().top - top);
  if (times > 1) requestAnimationFrame(() => row.isConnected && isList() && putBack(row, top, times - 1));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Typing changes the list at once, and the address when it rests.
function typed(text) {
  at("search").value = text;
  asked.query = text;
  if (!isList()) {
    history.pushState(null, "", addressOf(asked));
    route();
    at("search").focus();
    return;
  }
  refresh();
  scrollTo(0, 0);
  clearTimeout(waiting);
  waiting = setTimeout(settle, 300);
}

function settle() {
  if (!waiting) return;
  clearTimeout(waiting);
  waiting = 0;
  if (!isList()) return;
  history.replaceState(null, "", addressOf(asked));
  say(counted(hits.length, "skill"));
}

function keptTheme() {
  try {
    const kept = localStorage.getItem("skillpm-theme");
    return kept in THEMES ? kept : "auto";
  } catch {
    return "auto";
  }
}

function showTheme(name) {
  document.documentElement.dataset.theme = name;
  const button = at("theme");
  button.replaceChildren(icon(name));
  button.title = `Colours: ${THEMES[name]}`;
  button.setAttribute("aria-label", button.title);
}

function nextTheme() {
  const names = Object.keys(THEMES);
  const name = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
  showTheme(name);
  try {
    localStorage.setItem("skillpm-theme", name);
  } catch {
    // Some browsers keep nothing for pages from files; then it holds until the page is closed.
  }
  say(at("theme").title);
}

history.scrollRestoration = "manual";
showTheme(keptTheme());
at("theme").addEventListener("click", nextTheme);
at("keys-button").addEventListener("click", () => at("keys").showModal());
at("keys-close").addEventListener("click", () => at("keys").close());
at("skip").addEventListener("click", () => (rows()[0] ?? at("search")).focus());
at("search").addEventListener("input", (event) => typed(event.target.value));
at("more").addEventListener("click", () => {
  const next = shown;
  grow(MORE);
  rows()[next]?.focus({ preventScroll: true });
});
at("filters-button").addEventListener("click", (event) => {
  const open = at("filters").classList.toggle("open");
  event.currentTarget.setAttribute("aria-expanded", String(open));
});
at("results").addEventListener("click", (event) => {
  const row = event.target.closest("a.row");
  if (row) history.replaceState({ shown, top: row.getBoundingClientRect().top, open: row.dataset.name }, "", addressOf(asked));
});
new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && shown && grow(MORE), { rootMargin: "900px" }).observe(at("more"));
document.addEventListener("keydown", press);
addEventListener("popstate", route);
route();
performance.mark("skillpm-list");

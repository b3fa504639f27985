// Navigation: the hash of the address determines what is shown. Also the buttons of the page.

let timer = 0;

function route() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split(/\?(.*)/s);
  const [, name, file] = /^\/skill\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
  const newDepth = name === undefined ? 0 : file ? 2 : 1;
  const state = history.state ?? {};
  byId("list-view").hidden = name !== undefined;
  byId("skill-view").hidden = name === undefined;
  if (name !== undefined) {
    history.replaceState({ ...state, inside: state.inside ?? depth === newDepth - 1 }, "");
    openSkill(decode(name), decode(file));
    scrollTo(0, 0);
    byId("skill-view").querySelector("h1").focus({ preventScroll: true });
  } else {
    current = currentFile = "";
    readAddress(query);
    if (byId("search").value !== selection.query) byId("search").value = selection.query;
    document.title = `${index.name} · skills`;
    refresh(Math.max(FIRST, state.shown ?? 0));
    const row = state.open && byId("results").querySelector(`a[data-name="${CSS.escape(state.open)}"]`);
    row?.focus({ preventScroll: true });
    scrollTo(0, 0);
    if (row) restorePosition(row, state.top, 3);
  }
  depth = newDepth;
}
let depth = NaN; // of the view that was shown before: 0 is the list, 1 a skill, 2 a file

// Scroll a row to its previous position in the window. The heights of rows that were never visible are estimates
// (`content-visibility`), so the position may be off again a frame later.
function restorePosition(row, top, times) {
  scrollBy(0, row.getBoundingClientRect().top - top);
  if (times > 1) requestAnimationFrame(() => row.isConnected && isList() && restorePosition(row, top, times - 1));
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Update the list at each key, and the address after a pause: each change would be an entry in the history.
function setQuery(text) {
  byId("search").value = text;
  selection.query = text;
  if (!isList()) {
    history.pushState(null, "", addressOf(selection));
    route();
    byId("search").focus();
    return;
  }
  refresh();
  scrollTo(0, 0);
  clearTimeout(timer);
  timer = setTimeout(commitQuery, 300);
}

function commitQuery() {
  if (!timer) return;
  clearTimeout(timer);
  timer = 0;
  if (!isList()) return;
  history.replaceState(null, "", addressOf(selection));
  announce(formatCount(hits.length, "skill"));
}

history.scrollRestoration = "manual";
byId("keys-button").addEventListener("click", () => byId("keys").showModal());
byId("keys-close").addEventListener("click", () => byId("keys").close());
byId("skip").addEventListener("click", () => (rows()[0] ?? byId("search")).focus());
byId("search").addEventListener("input", (event) => setQuery(event.target.value));
byId("sort").addEventListener("change", (event) => choose({ sort: event.target.value }));
byId("more").addEventListener("click", () => {
  const next = shown;
  showRows(MORE);
  rows()[next]?.focus({ preventScroll: true });
});
byId("filters-button").addEventListener("click", (event) => {
  const open = byId("filters").classList.toggle("open");
  event.currentTarget.setAttribute("aria-expanded", String(open));
});
byId("results").addEventListener("click", (event) => {
  const row = event.target.closest("a.row");
  if (row) history.replaceState({ shown, top: row.getBoundingClientRect().top, open: row.dataset.name }, "", addressOf(selection));
});
new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && shown && showRows(MORE), { rootMargin: "900px" }).observe(byId("more"));
document.addEventListener("keydown", handleKey);
addEventListener("popstate", route);
const typed = byId("search").value; // while the skills were loading
route();
if (typed && isList() && !selection.query) setQuery(typed);
performance.mark("skillpm-list");

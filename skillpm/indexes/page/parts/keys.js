// Everything by keyboard: a key alone is a command wherever nobody is typing.

const rows = () => [...at("results").querySelectorAll("a.row")];
const isList = () => !at("list-view").hidden;

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || at("keys").open) return;
  const typing = event.target.closest("input, textarea");
  const does = typing ? inSearch[event.key] : alone[event.key];
  if (does && does(event) !== false) event.preventDefault();
}

const inSearch = {
  Escape() {
    const search = at("search");
    if (search.value) return typed("");
    if (!isList()) return leave();
    search.blur();
  },
  ArrowDown() {
    if (!isList()) return false;
    rows()[0]?.focus();
  },
  Enter() {
    settle();
    if (isList() && hits.length) rows()[0].click();
  },
};

const alone = {
  "/"() {
    at("search").focus();
    at("search").select();
  },
  "?"() {
    at("keys").showModal();
  },
  c() {
    const name = isList() ? document.activeElement.dataset?.name : current;
    if (!byName.has(name)) return false;
    const box = isList() ? document.activeElement.closest("li") : at("skill-view").querySelector(".install");
    copy(`skillpm install ${name}`, box.querySelector(".copy"));
  },
  t() {
    nextTheme();
  },
  Escape() {
    if (!isList()) return leave();
    if (asked.query || asked.category || asked.tags.length) return choose({ query: "", category: "", tags: [] });
    return false;
  },
  ArrowDown: () => walk(1),
  ArrowUp: () => walk(-1),
};

// From row to row; above the first is the search. Elsewhere arrows scroll, as everywhere.
function walk(step) {
  if (!isList()) return false;
  const here = document.activeElement;
  const place = here?.closest?.("#results li")?.querySelector("a.row");
  if (!place && here !== document.body) return false;
  const all = rows();
  const next = place ? all.indexOf(place) + step : 0;
  if (next < 0) return at("search").focus();
  if (next >= all.length) grow(MORE);
  const row = rows()[next];
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

// Back to the list: as the browser's own way back where it leads there, or a step of its own.
function leave() {
  if (history.state?.inside) history.back();
  else location.hash = addressOf(asked);
}

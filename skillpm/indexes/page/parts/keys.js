// Keyboard control. Single keys are commands unless an input has the focus.

const rows = () => [...byId("results").querySelectorAll("a.row")];
const isList = () => !byId("list-view").hidden;

function handleKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || byId("keys").open || event.target.id === "sort") return;
  const isInput = event.target.closest("input, textarea");
  const action = isInput ? searchKeys[event.key] : globalKeys[event.key];
  if (action && action(event) !== false) event.preventDefault();
}

// An action that returns false leaves the key to the browser.
const searchKeys = {
  Escape() {
    const search = byId("search");
    if (search.value) return setQuery("");
    if (!isList()) return closeSkill();
    search.blur();
  },
  ArrowDown() {
    if (!isList()) return false;
    rows()[0]?.focus();
  },
  Enter() {
    commitQuery();
    if (isList() && hits.length) rows()[0].click();
  },
};

const globalKeys = {
  "/"() {
    byId("search").focus();
    byId("search").select();
  },
  "?"() {
    byId("keys").showModal();
  },
  c() {
    const name = isList() ? document.activeElement.dataset?.name : current;
    if (!byName.has(name)) return false;
    const container = isList() ? document.activeElement.closest("li") : byId("skill-view").querySelector(".install");
    copy(installCommand(name), container.querySelector(".copy"));
  },
  t() {
    nextTheme();
  },
  Escape() {
    if (!isList()) return closeSkill();
    if (selection.query || selection.category || selection.tags.length) return choose(NOTHING);
    return false;
  },
  ArrowDown: () => moveFocus(1),
  ArrowUp: () => moveFocus(-1),
};

// Move the focus to the next or previous row; above the first one is the search field. Elsewhere, arrows scroll.
function moveFocus(step) {
  if (!isList()) return false;
  const focused = document.activeElement;
  const currentRow = focused?.closest?.("#results li")?.querySelector("a.row");
  if (!currentRow && focused !== document.body) return false;
  const all = rows();
  const next = currentRow ? all.indexOf(currentRow) + step : 0;
  if (next < 0) return byId("search").focus();
  if (next >= all.length) showRows(MORE);
  const row = rows()[next];
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

// Return from a file to its skill, and from a skill to the list: by the browser's history if this is where the reader
// came from, else by a new entry.
function closeSkill() {
  if (history.state?.inside) history.back();
  else location.hash = currentFile ? skillAddress(current) : addressOf(selection);
}

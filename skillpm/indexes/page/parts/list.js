// The list of skills: the selection (query, category, tags, order), the matching rows, and the filters with their counts.

const selection = { query: "", category: "", tags: [], sort: "" };
const NOTHING = { query: "", category: "", tags: [] };
const FIRST = 50, MORE = 150; // rows that are created at first, and for each scroll to the end
const MAX_CHOICES = { category: 12, tag: 18 };
const expanded = new Set(); // filters that show all their choices
let hits = [], shown = 0, isSimilar = false;

// How to sort, and what each row shows of it. Skills without a value come last, equal ones by name.
const SORTS = {
  name: { compare: () => 0, label: () => "" },
  newest: { compare: (one, other) => (one.published < other.published) - (one.published > other.published), label: (skill) => skill.published },
  tokens: { compare: (one, other) => (one.tokens || Infinity) - (other.tokens || Infinity) || 0, label: (skill) => skill.tokens ? formatCount(skill.tokens, "token") : "" },
  size: { compare: (one, other) => one.size - other.size, label: (skill) => formatSize(skill.size) },
};

function addressOf({ query, category, tags, sort }) {
  const parameters = new URLSearchParams();
  if (query) parameters.set("q", query);
  if (category) parameters.set("category", category);
  for (const tag of tags) parameters.append("tag", tag);
  if (sort) parameters.set("sort", sort);
  return `#/${parameters.size ? `?${parameters}` : ""}`;
}

function readAddress(text) {
  const parameters = new URLSearchParams(text);
  selection.query = parameters.get("q") ?? "";
  selection.category = parameters.get("category") ?? "";
  selection.tags = parameters.getAll("tag").slice(0, 10);
  selection.sort = Object.hasOwn(SORTS, parameters.get("sort") ?? "") ? parameters.get("sort") : "";
}

function refresh(rows = FIRST) {
  const exact = findSkills(selection.query, skills);
  const matching = exact.length ? exact : similarSkills(selection.query);
  isSimilar = !exact.length && matching.length > 0;
  const tagged = matching.filter((skill) => selection.tags.every((tag) => skill.tags.includes(tag)));
  hits = selection.category ? tagged.filter((skill) => skill.category === selection.category) : tagged;
  if (selection.sort) hits = [...hits].sort((one, other) => SORTS[selection.sort].compare(one, other) || one.number - other.number);
  byId("sort").value = selection.sort;
  shown = 0;
  byId("results").replaceChildren();
  showRows(rows);
  byId("count").replaceChildren(...headline());
  byId("active-filters").replaceChildren(...activeFilters());
  byId("filters").replaceChildren(...filters(tagged));
  byId("filters-button").textContent = selection.category || selection.tags.length ? "Filters · on" : "Filters";
  byId("no-results").hidden = hits.length > 0;
  if (!hits.length) byId("no-results").replaceChildren(...noResults());
}

function showRows(rows) {
  const words = wordsOf(selection.query);
  byId("results").append(...hits.slice(shown, shown + rows).map((skill) => row(skill, words)));
  shown = Math.min(hits.length, shown + rows);
  byId("more").hidden = shown >= hits.length;
}

function row(skill, words) {
  const label = selection.sort ? SORTS[selection.sort].label(skill) : "";
  return create("li", {},
    create("a", { class: "row", href: `#/skill/${skill.name}`, "data-name": skill.name },
      create("span", { class: "head" }, create("span", { class: "name" }, highlight(skill.name, words)),
        create("span", { class: "version" }, skill.latest), label ? create("span", { class: "version" }, label) : null),
      create("span", { class: "description", dir: "auto" }, highlight(skill.description, words)),
      create("span", { class: "labels" }, hasCategories ? create("bdi", { class: "category" }, skill.category) : null,
        skill.tags.slice(0, 5).map((tag) => create("bdi", { class: "tag" }, tag)))),
    copyButton(installCommand(skill.name)));
}

// The text, with the words of the query in <mark> elements.
function highlight(text, words) {
  if (!words.length) return [text];
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length);
  return text.split(new RegExp(`(${pattern.join("|")})`, "iu")).map((part, number) => number % 2 ? create("mark", {}, part) : part);
}

function headline() {
  const isAll = hits.length === skills.length;
  const number = create("strong", {}, formatNumber(hits.length));
  if (isSimilar) return ["No skill has these words; ", number, " with similar names"];
  return isAll ? [number, ` skill${hits.length === 1 ? "" : "s"}`] : [number, ` of ${formatCount(skills.length, "skill")}`];
}

function activeFilters() {
  const chip = (label, change) => create("button", { type: "button", class: "chip on", "aria-label": `Remove filter ${label}`,
    onclick: () => choose(change) }, create("bdi", {}, label), create("span", { "aria-hidden": "true" }, "×"));
  return [
    ...(selection.category ? [chip(selection.category, { category: "" })] : []),
    ...selection.tags.map((tag) => chip(tag, { tags: selection.tags.filter((other) => other !== tag) })),
  ];
}

function noResults() {
  const text = selection.category || selection.tags.length ? "No skills match this search and these filters." : "No skills match this search.";
  return [
    create("p", {}, text),
    create("button", { type: "button", class: "quiet", onclick: () => choose(NOTHING) }, "Show all skills"),
  ];
}

function filters(tagged) {
  const tags = countEach(hits.flatMap((skill) => skill.tags));
  const categories = countEach(tagged.map((skill) => skill.category));
  return [
    !hasCategories ? null : filter("category", "Categories", categories, (name) => selection.category === name,
      (name) => ({ category: selection.category === name ? "" : name })),
    filter("tag", "Tags", tags, (name) => selection.tags.includes(name),
      (name) => ({ tags: selection.tags.includes(name) ? selection.tags.filter((other) => other !== name) : [...selection.tags, name] })),
  ].filter(Boolean);
}

// Pairs of a name and how often it occurs, the most frequent first.
function countEach(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
}

function filter(kind, title, all, isOn, change) {
  if (!all.length) return null;
  const limit = expanded.has(kind) ? 300 : MAX_CHOICES[kind];
  const rows = all.slice(0, limit);
  rows.push(...all.slice(limit).filter(([name]) => isOn(name)));
  const list = rows.map(([name, number]) => create("li", {},
    create("button", { type: "button", class: `choice ${kind}`, "aria-pressed": String(isOn(name)), "data-choice": `${kind}:${name}`,
      onclick: () => choose(change(name)) }, create("bdi", {}, name), create("span", { class: "number" }, formatNumber(number)))));
  const toggle = all.length > MAX_CHOICES[kind] ? create("button", { type: "button", class: "link", "data-choice": `${kind}:`, onclick: () => {
    if (!expanded.delete(kind)) expanded.add(kind);
    keepFocus(() => refresh());
  } }, expanded.has(kind) ? "Show fewer" : `Show all ${formatNumber(all.length)}`) : null;
  return create("section", {}, create("h2", { id: `filter-${kind}` }, title),
    create("ul", { "aria-labelledby": `filter-${kind}`, class: `choices ${kind}` }, list), toggle);
}

// Keep the focus on the filter that was pressed: all filters are created again.
function keepFocus(change) {
  const focused = document.activeElement?.dataset?.choice;
  change();
  if (focused === undefined) return;
  const same = [...byId("filters").querySelectorAll("[data-choice]")].find((button) => button.dataset.choice === focused);
  (same ?? byId("search")).focus({ preventScroll: true });
}

function choose(change) {
  Object.assign(selection, change);
  history.pushState(null, "", addressOf(selection));
  keepFocus(() => route());
  announce(formatCount(hits.length, "skill"));
}

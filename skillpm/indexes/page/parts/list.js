// The list: what is asked for (words, a category, tags), the rows that answer, and the filters with their counts.

const asked = { query: "", category: "", tags: [] };
const FIRST = 50, MORE = 150; // rows: what is not looked at is not made
const MOST = { category: 12, tag: 18 };
const wide = new Set(); // filters that show all they have
let hits = [], shown = 0;

function addressOf({ query, category, tags }) {
  const words = new URLSearchParams();
  if (query) words.set("q", query);
  if (category) words.set("category", category);
  for (const tag of tags) words.append("tag", tag);
  return `#/${words.size ? `?${words}` : ""}`;
}

function readAddress(text) {
  const words = new URLSearchParams(text);
  asked.query = words.get("q") ?? "";
  asked.category = words.get("category") ?? "";
  asked.tags = words.getAll("tag").slice(0, 10);
}

function refresh(rows = FIRST) {
  const matching = found(asked.query, skills);
  const tagged = matching.filter((skill) => asked.tags.every((tag) => skill.tags.includes(tag)));
  hits = asked.category ? tagged.filter((skill) => skill.category === asked.category) : tagged;
  shown = 0;
  at("results").replaceChildren();
  grow(rows);
  at("count").replaceChildren(...headline());
  at("chosen").replaceChildren(...chosen());
  at("filters").replaceChildren(...filters(tagged));
  at("filters-button").textContent = asked.category || asked.tags.length ? "Filters · on" : "Filters";
  const nothing = hits.length === 0;
  at("nothing").hidden = !nothing;
  if (nothing) at("nothing").replaceChildren(...without());
}

function grow(rows) {
  const words = wordsOf(asked.query);
  at("results").append(...hits.slice(shown, shown + rows).map((skill) => row(skill, words)));
  shown = Math.min(hits.length, shown + rows);
  at("more").hidden = shown >= hits.length;
}

function row(skill, words) {
  const line = `skillpm install ${skill.name}`;
  return make("li", {},
    make("a", { class: "row", href: `#/skill/${skill.name}`, "data-name": skill.name },
      make("span", { class: "head" }, make("span", { class: "name" }, marked(skill.name, words)),
        make("span", { class: "version" }, skill.latest)),
      make("span", { class: "description", dir: "auto" }, marked(skill.description, words)),
      make("span", { class: "labels" }, make("bdi", { class: "category" }, skill.category),
        skill.tags.slice(0, 5).map((tag) => make("bdi", { class: "tag" }, tag)))),
    copyButton(line, "Copy"));
}

// A text with the words that were searched for set off.
function marked(text, words) {
  if (!words.length) return [text];
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length);
  return text.split(new RegExp(`(${pattern.join("|")})`, "iu")).map((part, number) => number % 2 ? make("mark", {}, part) : part);
}

function headline() {
  const whole = hits.length === skills.length;
  const number = make("strong", {}, grouped(hits.length));
  return whole ? [number, ` skill${hits.length === 1 ? "" : "s"}`] : [number, ` of ${counted(skills.length, "skill")}`];
}

function chosen() {
  const gone = (label, change) => make("button", { type: "button", class: "chip on", "aria-label": `Remove filter ${label}`,
    onclick: () => choose(change) }, make("bdi", {}, label), make("span", { "aria-hidden": "true" }, "×"));
  return [
    ...(asked.category ? [gone(asked.category, { category: "" })] : []),
    ...asked.tags.map((tag) => gone(tag, { tags: asked.tags.filter((other) => other !== tag) })),
  ];
}

function without() {
  const close = near(asked.query);
  const text = asked.category || asked.tags.length ? "No skill answers to these words and filters." : "No skill answers to these words.";
  return [
    make("p", {}, text),
    close.length ? make("p", { class: "near" }, "Close to it: ", close.map((skill) => make("a", { href: `#/skill/${skill.name}` }, skill.name))) : null,
    make("button", { type: "button", class: "quiet", onclick: () => choose({ query: "", category: "", tags: [] }) }, "Show all skills"),
  ].filter(Boolean);
}

function filters(tagged) {
  const tags = counts(hits.flatMap((skill) => skill.tags));
  const categories = counts(tagged.map((skill) => skill.category));
  return [
    filter("category", "Categories", categories, (name) => asked.category === name,
      (name) => ({ category: asked.category === name ? "" : name })),
    filter("tag", "Tags", tags, (name) => asked.tags.includes(name),
      (name) => ({ tags: asked.tags.includes(name) ? asked.tags.filter((other) => other !== name) : [...asked.tags, name] })),
  ].filter(Boolean);
}

function counts(words) {
  const found = new Map();
  for (const word of words) found.set(word, (found.get(word) ?? 0) + 1);
  return [...found].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
}

function filter(kind, title, all, isOn, change) {
  if (!all.length) return null;
  const most = wide.has(kind) ? 300 : MOST[kind];
  const rows = all.slice(0, most);
  rows.push(...all.slice(most).filter(([name]) => isOn(name)));
  const list = rows.map(([name, number]) => make("li", {},
    make("button", { type: "button", class: `choice ${kind}`, "aria-pressed": String(isOn(name)), "data-choice": `${kind}:${name}`,
      onclick: () => choose(change(name)) }, make("bdi", {}, name), make("span", { class: "number" }, grouped(number)))));
  const rest = all.length > MOST[kind] ? make("button", { type: "button", class: "link", "data-choice": `${kind}:`, onclick: () => {
    if (!wide.delete(kind)) wide.add(kind);
    again(() => refresh());
  } }, wide.has(kind) ? "Show fewer" : `Show all ${grouped(all.length)}`) : null;
  return make("section", {}, make("h2", { id: `filter-${kind}` }, title),
    make("ul", { "aria-labelledby": `filter-${kind}`, class: `choices ${kind}` }, list), rest);
}

// A filter that was pressed keeps the focus although the filters are made anew.
function again(change) {
  const held = document.activeElement?.dataset?.choice;
  change();
  if (held === undefined) return;
  const same = [...at("filters").querySelectorAll("[data-choice]")].find((button) => button.dataset.choice === held);
  (same ?? at("search")).focus({ preventScroll: true });
}

function choose(change) {
  Object.assign(asked, change);
  history.pushState(null, "", addressOf(asked));
  again(() => route());
  say(counted(hits.length, "skill"));
}

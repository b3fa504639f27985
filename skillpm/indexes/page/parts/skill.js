// One skill: how to install it, what it says of itself, its versions, and its SKILL.md.

const OFFERED = 8; // versions that are shown before somebody asks for all
let current = "";

async function openSkill(name) {
  const skill = byName.get(name);
  const view = at("skill-view");
  current = name;
  document.title = `${skill ? skill.name : "No such skill"} · ${index.name}`;
  if (!skill) return view.replaceChildren(back(), ...missing(name));
  const facts = make("aside", { class: "facts", "aria-label": "About this skill" });
  const text = make("div", { class: "prose", dir: "auto", "aria-busy": "true" });
  view.replaceChildren(back(), make("div", { class: "skill" }, make("div", { class: "story" }, heading(skill), install(skill), text), facts));
  try {
    const more = await details(skill);
    if (current !== name) return; // somebody went on already
    facts.append(...about(skill, more));
    text.append(...textOf(more.leaf.html));
    if (!more.leaf.html) text.append(make("p", { class: "cut" }, "The text of this skill is in its archive."));
    for (const table of text.querySelectorAll("table")) {
      const frame = make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" });
      table.replaceWith(frame);
      frame.append(table);
    }
    for (const block of text.querySelectorAll("pre")) block.tabIndex = 0;
    if (more.leaf.cut) text.append(make("p", { class: "cut" }, `Only the beginning of ${grouped(more.leaf.cut)} characters is shown here; all of it is in the skill.`));
  } catch {
    text.append(make("p", { class: "cut" }, "This browser cannot open the text of the skill: it is too old, or the page did not arrive whole."));
  }
  text.removeAttribute("aria-busy");
}

function back() {
  return make("p", { class: "back" }, make("a", { href: addressOf(asked), id: "back" }, icon("back"), "All skills"));
}

function missing(name) {
  const close = near(name.slice(0, 64));
  return [
    make("h1", { tabindex: "-1" }, "There is no such skill here"),
    make("p", {}, make("bdi", {}, make("code", {}, name.slice(0, 100))), " is not in this index."),
    ...(close.length ? [make("p", { class: "near" }, "Close to it: ", close.map((skill) => make("a", { href: `#/skill/${skill.name}` }, skill.name)))] : []),
  ];
}

function heading(skill) {
  const label = (kind, name, change) => make("a", { class: kind, href: addressOf({ query: "", category: "", tags: [], ...change }) }, make("bdi", {}, name));
  return make("header", { class: "title" },
    make("h1", { tabindex: "-1" }, skill.name, " ", make("span", { class: "version" }, skill.latest)),
    make("p", { class: "lead", dir: "auto" }, skill.description),
    make("p", { class: "labels" }, label("category", skill.category, { category: skill.category }),
      skill.tags.map((tag) => label("tag", tag, { tags: [tag] }))));
}

function command(line) {
  return make("div", { class: "command" }, make("code", {}, make("span", { class: "prompt", "aria-hidden": "true" }, "$ "), line), copyButton(line));
}

function snippet(text) {
  return make("div", { class: "command" }, make("pre", { tabindex: "0" }, text), copyButton(text));
}

function install(skill) {
  const place = new URL(".", location.href.split("#")[0]).href;
  const name = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(index.name) && index.name.length <= 64 ? index.name : "this-index";
  const quoted = JSON.stringify(place);
  const isServed = place.startsWith("https://") && /^[\w:/.~-]+$/.test(place);
  return make("section", { class: "install", "aria-label": "Install" },
    command(`skillpm install ${skill.name}`),
    make("details", {}, make("summary", {}, "First skill from this index?"),
      make("p", {}, "Name the index once, in your project's ", make("code", {}, "skills.json"), ":"),
      snippet(`"indexes": [{"name": "${name}", "url": ${quoted}}]`),
      make("p", {}, "or for yourself, in ", make("code", {}, "config.toml"), ":"),
      snippet(`[[indexes]]\nname = "${name}"\nurl = ${quoted}`),
      isServed ? make("p", {}, "or not at all, and say where it is instead:") : null,
      isServed ? command(`skillpm install ${place}@${skill.name}`) : null,
      make("p", {}, "Once it is named, from this index and no other:"),
      command(`skillpm install ${skill.name} --index ${name}`)));
}

function about(skill, more) {
  const { leaf } = more;
  const fact = (title, ...value) => value.flat(Infinity).length ? make("div", {}, make("dt", {}, title), make("dd", {}, value)) : null;
  const words = (list) => list.map((word) => make("code", {}, make("bdi", {}, word)));
  const home = isWeb(leaf.homepage) ? [make("a", { href: leaf.homepage, target: "_blank", rel: "noopener noreferrer nofollow" }, make("bdi", {}, leaf.homepage.replace(/^https?:\/\/(www\.)?/i, "").replace(/\/$/, "")))] : [];
  const needs = Object.entries(leaf.needs).map(([kind, list]) => make("p", {}, make("span", { class: "kind" }, `${kind} `), kind === "and" ? list.join("; ") : words(list)));
  const plain = (text) => text ? [make("bdi", {}, text)] : [];
  const wanted = Object.entries(more.dependencies).map(([name, range]) => make("p", {},
    byName.has(name) ? make("a", { href: `#/skill/${name}` }, name) : name, range === "*" ? "" : make("span", { class: "range" }, ` ${range}`)));
  const size = more.versions.find(([version]) => version === skill.latest)[2];
  return [
    make("dl", {},
      fact("License", plain(leaf.license)), fact("Author", plain(leaf.author)), fact("Homepage", home),
      fact("Context", skill.tokens ? `about ${counted(skill.tokens, "token")}` : []), fact("Archive", archive(more.url, size)),
      fact("Needs skills", wanted), fact("Needs", needs), fact("Compatibility", plain(leaf.compatibility)), fact("Triggers", words(leaf.triggers)),
      make("div", {}, make("dt", {}, "Digest"), make("dd", { class: "digest" }, make("code", { title: more.digest }, more.digest), copyButton(more.digest)))),
    versions(skill, more.versions),
  ];
}

function archive(address, size) {
  const place = isWeb(address) ? address : /^[\w.+!/-]+$/.test(address) && !address.startsWith("/") ? address : "";
  return [place ? make("a", { href: place, download: true, rel: "noopener noreferrer" }, "tar.gz") : "tar.gz", `, ${sized(size)}`];
}

function versions(skill, all) {
  const list = make("ol", { class: "versions" });
  const fill = (rows) => list.replaceChildren(...rows.map(([version, published, size, yanked]) =>
    make("li", yanked ? { class: "yanked" } : {},
      make("span", { class: "number" }, version),
      make("span", { class: "when" }, yanked ? make("strong", {}, "yanked") : published || sized(size)),
      yanked ? null : copyButton(`skillpm install ${skill.name}@${version}`),
      typeof yanked === "string" ? make("span", { class: "reason" }, make("bdi", {}, yanked)) : null)));
  fill(all.slice(0, OFFERED));
  const rest = all.length > OFFERED ? make("button", { type: "button", class: "link", onclick: () => { fill(all); rest.remove(); } }, `All ${grouped(all.length)} versions`) : null;
  return make("section", {}, make("h2", {}, "Versions"), list, rest);
}

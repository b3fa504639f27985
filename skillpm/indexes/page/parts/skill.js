// The view of one skill: how to install it, its metadata, its versions, and its SKILL.md.

const MAX_VERSIONS = 8; // more are shown on request
let current = ""; // the name of the open skill

async function openSkill(name) {
  const skill = byName.get(name);
  const view = byId("skill-view");
  current = name;
  document.title = `${skill ? skill.name : "Skill not found"} · ${index.name}`;
  if (!skill) return view.replaceChildren(backLink(), ...notFound(name));
  const facts = create("aside", { class: "facts", "aria-label": "About this skill" });
  const text = create("div", { class: "prose", dir: "auto", "aria-busy": "true" });
  view.replaceChildren(backLink(), create("div", { class: "skill" }, create("div", { class: "story" }, heading(skill), install(skill), text), facts));
  try {
    const more = await loadDetails(skill);
    if (current !== name) return; // another skill was opened in the meantime
    facts.append(...about(skill, more));
    const entry = more.leaf;
    text.append(...parseSafeHtml(entry.html));
    if (!entry.html) text.append(create("p", { class: "cut" }, "The text of this skill is only in its archive."));
    for (const table of text.querySelectorAll("table")) {
      const frame = create("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" });
      table.replaceWith(frame);
      frame.append(table);
    }
    for (const block of text.querySelectorAll("pre")) block.tabIndex = 0;
    if (entry.cut) text.append(create("p", { class: "cut" }, `Only the beginning of the ${formatNumber(entry.cut)} characters of this text is shown; the skill contains all of it.`));
  } catch {
    text.append(create("p", { class: "cut" }, "The text of this skill cannot be shown: the browser is too old, or the page was not loaded completely."));
  }
  text.removeAttribute("aria-busy");
}

function backLink() {
  return create("p", { class: "back" }, create("a", { href: addressOf(selection), id: "back" }, icon("back"), "All skills"));
}

function notFound(name) {
  const similar = similarSkills(name.slice(0, 64));
  return [
    create("h1", { tabindex: "-1" }, "Skill not found"),
    create("p", {}, create("bdi", {}, create("code", {}, name.slice(0, 100))), " is not in this index."),
    ...(similar.length ? [create("p", { class: "similar" }, "Similar: ", similar.map((skill) => create("a", { href: `#/skill/${skill.name}` }, skill.name)))] : []),
  ];
}

function heading(skill) {
  const label = (kind, name, change) => create("a", { class: kind, href: addressOf({ query: "", category: "", tags: [], ...change }) }, create("bdi", {}, name));
  return create("header", { class: "title" },
    create("h1", { tabindex: "-1" }, skill.name, " ", create("span", { class: "version" }, skill.latest)),
    create("p", { class: "lead", dir: "auto" }, skill.description),
    create("p", { class: "labels" }, label("category", skill.category, { category: skill.category }),
      skill.tags.map((tag) => label("tag", tag, { tags: [tag] }))));
}

function command(line) {
  return create("div", { class: "command" }, create("code", {}, create("span", { class: "prompt", "aria-hidden": "true" }, "$ "), line), copyButton(line));
}

function snippet(text) {
  return create("div", { class: "command" }, create("pre", { tabindex: "0" }, text), copyButton(text));
}

function install(skill) {
  const url = new URL(".", location.href.split("#")[0]).href;
  const name = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(index.name) && index.name.length <= 64 ? index.name : "this-index";
  const quoted = JSON.stringify(url);
  const isServed = url.startsWith("https://") && /^[\w:/.~-]+$/.test(url);
  return create("section", { class: "install", "aria-label": "Install" },
    command(`skillpm install ${skill.name}`),
    create("details", {}, create("summary", {}, "First skill from this index?"),
      create("p", {}, "Add the index to your project's ", create("code", {}, "skills.json"), ":"),
      snippet(`"indexes": [{"name": "${name}", "url": ${quoted}}]`),
      create("p", {}, "or to your own ", create("code", {}, "config.toml"), ":"),
      snippet(`[[indexes]]\nname = "${name}"\nurl = ${quoted}`),
      isServed ? create("p", {}, "or install by URL, without configuring the index:") : null,
      isServed ? command(`skillpm install ${url}@${skill.name}`) : null,
      create("p", {}, "To install from this index only, once it is configured:"),
      command(`skillpm install ${skill.name} --index ${name}`)));
}

function about(skill, more) {
  const entry = more.leaf;
  const fact = (title, ...value) => value.flat(Infinity).length ? create("div", {}, create("dt", {}, title), create("dd", {}, value)) : null;
  const codes = (list) => list.map((word) => create("code", {}, create("bdi", {}, word)));
  const homepage = isWebUrl(entry.homepage) ? [create("a", { href: entry.homepage, target: "_blank", rel: "noopener noreferrer nofollow" }, create("bdi", {}, entry.homepage.replace(/^https?:\/\/(www\.)?/i, "").replace(/\/$/, "")))] : [];
  const requirements = Object.entries(entry.needs).map(([kind, list]) => create("p", {}, create("span", { class: "kind" }, `${kind} `), kind === "and" ? list.join("; ") : codes(list)));
  const plain = (text) => text ? [create("bdi", {}, text)] : [];
  const dependencies = Object.entries(more.dependencies).map(([name, range]) => create("p", {},
    byName.has(name) ? create("a", { href: `#/skill/${name}` }, name) : name, range === "*" ? "" : create("span", { class: "range" }, ` ${range}`)));
  const size = more.versions.find(([version]) => version === skill.latest)[2];
  return [
    create("dl", {},
      fact("License", plain(entry.license)), fact("Author", plain(entry.author)), fact("Homepage", homepage),
      fact("Context", skill.tokens ? `about ${formatCount(skill.tokens, "token")}` : []), fact("Archive", archive(more.url, size)),
      fact("Dependencies", dependencies), fact("Requires", requirements), fact("Compatibility", plain(entry.compatibility)), fact("Triggers", codes(entry.triggers)),
      create("div", {}, create("dt", {}, "Digest"), create("dd", { class: "digest" }, create("code", { title: more.digest }, more.digest), copyButton(more.digest)))),
    versions(skill, more.versions),
  ];
}

function archive(address, size) {
  // Only a plain relative path, since the index is untrusted: `javascript:` would be a URL, too.
  const href = isWebUrl(address) ? address : /^[\w.+!/-]+$/.test(address) && !address.startsWith("/") ? address : "";
  return [href ? create("a", { href, download: true, rel: "noopener noreferrer" }, "tar.gz") : "tar.gz", `, ${formatSize(size)}`];
}

function versions(skill, all) {
  const list = create("ol", { class: "versions" });
  const fill = (rows) => list.replaceChildren(...rows.map(([version, published, size, yanked]) =>
    create("li", yanked ? { class: "yanked" } : {},
      create("span", { class: "number" }, version),
      create("span", { class: "when" }, yanked ? create("strong", {}, "yanked") : published || formatSize(size)),
      yanked ? null : copyButton(`skillpm install ${skill.name}@${version}`),
      typeof yanked === "string" ? create("span", { class: "reason" }, create("bdi", {}, yanked)) : null)));
  fill(all.slice(0, MAX_VERSIONS));
  const more = all.length > MAX_VERSIONS ? create("button", { type: "button", class: "link", onclick: () => { fill(all); more.remove(); } }, `All ${formatNumber(all.length)} versions`) : null;
  return create("section", {}, create("h2", {}, "Versions"), list, more);
}

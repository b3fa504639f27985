// The view of one skill: how to install it, its metadata, its files, its versions, and its SKILL.md or another file.

const MAX_VERSIONS = 8, MAX_FILES = 12; // more are shown on request
let current = ""; // the name of the open skill
let currentFile = ""; // the path of the file that is shown instead of its SKILL.md

const skillAddress = (name) => `#/skill/${name}`;
const fileAddress = (name, path) => `${skillAddress(name)}/${path.split("/").map(encodeURIComponent).join("/")}`;

async function openSkill(name, path) {
  const skill = byName.get(name);
  const view = byId("skill-view");
  current = name;
  currentFile = path;
  document.title = `${skill ? `${path ? `${path} · ` : ""}${skill.name}` : "Skill not found"} · ${index.name}`;
  if (!skill) return view.replaceChildren(backLink(), ...notFound(name));
  const facts = create("aside", { class: "facts", "aria-label": "About this skill" });
  const text = create("div", { class: "prose", dir: "auto", "aria-busy": "true" });
  view.replaceChildren(backLink(), create("div", { class: "skill" }, create("div", { class: "story" }, heading(skill), install(skill), text), facts));
  try {
    const more = await loadDetails(skill);
    if (current !== name || currentFile !== path) return; // something else was opened in the meantime
    facts.append(...about(skill, more));
    if (path) showFile(text, skill, more.page, path);
    else showInstructions(text, more.page);
  } catch {
    if (current !== name || currentFile !== path) return;
    text.append(create("p", { class: "cut", role: "alert" }, "The text of this skill could not be loaded. ",
      create("button", { type: "button", class: "link", onclick: () => openSkill(name, path) }, "Try again")));
  }
  text.removeAttribute("aria-busy");
}

function showInstructions(text, page) {
  text.append(...parseSafeHtml(page.html));
  if (!page.html) text.append(create("p", { class: "cut" }, "The text of this skill is only in its archive."));
  for (const table of text.querySelectorAll("table")) {
    const frame = create("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const block of text.querySelectorAll("pre")) block.tabIndex = 0;
  if (page.cut) text.append(cutNote(page.cut));
}

const cutNote = (length) => create("p", { class: "cut" }, `Only the beginning of the ${formatNumber(length)} characters of this text is shown; the skill contains all of it.`);

// The text of a file, as text only: nothing in it is rendered.
function showFile(text, skill, page, path) {
  const [, size, executable, content, length] = page.files.find(([each]) => each === path) ?? [];
  const title = create("h2", { class: "file-title", tabindex: "-1" }, create("bdi", {}, path));
  const close = create("a", { class: "file-close", href: skillAddress(skill.name) }, "Show SKILL.md");
  const note = size === undefined ? "This skill has no such file."
    : content === 0 ? "The files of this skill are too long to show all of them; this one is only in its archive."
    : typeof content === "string" ? "" : "This file is not text; it is only in the archive.";
  text.append(
    create("div", { class: "file-head" }, title, close),
    size === undefined ? "" : create("p", { class: "file-facts" }, formatSize(size), executable ? " · executable" : ""),
    note ? create("p", { class: "cut" }, note) : create("pre", { class: "file-text", tabindex: "0" }, content || " "));
  if (length) text.append(cutNote(length));
  title.focus({ preventScroll: true });
  title.scrollIntoView({ block: "start" });
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
  const label = (kind, name, change) => create("a", { class: kind, href: addressOf({ ...NOTHING, ...change }) }, create("bdi", {}, name));
  return create("header", { class: "title" },
    create("h1", { tabindex: "-1" }, skill.name, " ", create("span", { class: "version" }, skill.latest)),
    create("p", { class: "lead", dir: "auto" }, skill.description),
    create("p", { class: "labels" }, hasCategories ? label("category", skill.category, { category: skill.category }) : null,
      skill.tags.map((tag) => label("tag", tag, { tags: [tag] }))));
}

function command(line) {
  return create("div", { class: "command" }, create("code", {}, create("span", { class: "prompt", "aria-hidden": "true" }, "$ "), line), copyButton(line));
}

function snippet(text) {
  return create("div", { class: "command" }, create("pre", { tabindex: "0" }, text), copyButton(text));
}

// The address of the index, if a SPEC can name it: it is served over https, or from this machine.
function siteAddress() {
  const url = new URL(".", location.href.split("#")[0]).href;
  return /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/])[\w:/.~[\]-]+$/.test(url) ? url : "";
}

// A command that installs a skill, also for users who never heard of this index.
function installCommand(name, version = "") {
  const { spec } = byName.get(name);
  if (spec) return `skillpm install ${spec}`;
  const site = siteAddress();
  if (!site) return `skillpm install ${name}${version && `@${version}`}`;
  return `skillpm install ${site}@${name}${version && ` --version ${version}`}`;
}

function install(skill) {
  const url = new URL(".", location.href.split("#")[0]).href;
  const name = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(index.name) && index.name.length <= 64 ? index.name : "this-index";
  const quoted = /^[\w:/.~-]+$/.test(url) ? url : `'${url.replaceAll("'", "%27")}'`;
  return create("section", { class: "install", "aria-label": "Install" },
    command(installCommand(skill.name)),
    skill.spec ? null : create("details", {}, create("summary", {}, siteAddress() ? "Install by name" : "First skill from this index?"),
      create("p", {}, "Add the index to your configuration once; then its skills have short names:"),
      command(`skillpm config set indexes.${name}.url ${quoted}`),
      command(`skillpm install ${skill.name}`),
      create("p", {}, "To share it with your team, add it to the project's ", create("code", {}, "skills.json"), " instead:"),
      snippet(`"indexes": [{"name": "${name}", "url": ${JSON.stringify(url)}}]`),
      create("p", {}, "To install from this index only, once it is configured:"),
      command(`skillpm install ${skill.name} --index ${name}`)));
}

function about(skill, more) {
  const entry = more.page;
  const fact = (title, ...value) => value.flat(Infinity).length ? create("div", {}, create("dt", {}, title), create("dd", {}, value)) : null;
  const codes = (list) => list.map((word) => create("code", {}, create("bdi", {}, word)));
  const homepage = isWebUrl(entry.homepage) ? [create("a", { href: entry.homepage, target: "_blank", rel: "noopener noreferrer nofollow" }, create("bdi", {}, entry.homepage.replace(/^https?:\/\/(www\.)?/i, "").replace(/\/$/, "")))] : [];
  const requirements = Object.entries(entry.needs).map(([kind, list]) => create("p", {}, create("span", { class: "kind" }, `${kind} `), kind === "and" ? list.join("; ") : codes(list)));
  const plain = (text) => text ? [create("bdi", {}, text)] : [];
  const dependencies = Object.entries(more.dependencies).map(([name, range]) => create("p", {},
    byName.has(name) ? create("a", { href: `#/skill/${name}` }, name) : name, range === "*" ? "" : create("span", { class: "range" }, ` ${range}`)));
  const dependents = skills.filter((other) => other.dependencies.includes(skill.name))
    .map((other) => create("p", {}, create("a", { href: `#/skill/${other.name}` }, other.name)));
  const size = more.versions.find(([version]) => version === skill.latest)[2];
  return [
    create("dl", {},
      fact("License", plain(entry.license)), fact("Author", plain(entry.author)), fact("Homepage", homepage),
      fact("Context", skill.tokens ? `about ${formatCount(skill.tokens, "token")}` : []), fact("Archive", archive(more.url, size)), fact("Source", skill.spec ? plain(more.url) : []),
      fact("Dependencies", dependencies), fact("Required by", dependents), fact("Requires", requirements), fact("Compatibility", plain(entry.compatibility)), fact("Triggers", codes(entry.triggers)),
      create("div", {}, create("dt", {}, "Digest"), create("dd", { class: "digest" }, create("code", { title: more.digest }, more.digest), copyButton(more.digest)))),
    files(skill, entry),
    versions(skill, more.versions),
  ].filter(Boolean);
}

function archive(address, size) {
  // Only a plain relative path, since the index is untrusted: `javascript:` would be a URL, too.
  const href = isWebUrl(address) ? address : /^[\w.+!/-]+$/.test(address) && !address.startsWith("/") ? address : "";
  return [href ? create("a", { href, download: true, rel: "noopener noreferrer" }, "tar.gz") : "tar.gz", `, ${formatSize(size)}`];
}

function files(skill, { files: all, more: hidden }) {
  if (!all.length) return null;
  const list = create("ol", { class: "files" });
  const row = ([path, size, executable]) => {
    const isMain = /^skill\.md$/i.test(path);
    const isCurrent = currentFile ? path === currentFile : isMain;
    return create("li", {},
      create("a", { href: isMain ? skillAddress(skill.name) : fileAddress(skill.name, path), "aria-current": isCurrent && "page" }, create("bdi", {}, path)),
      create("span", { class: "when" }, formatSize(size)),
      executable ? create("span", { class: "kind" }, "executable") : null);
  };
  list.append(...all.slice(0, MAX_FILES).map(row));
  const rest = all.slice(MAX_FILES);
  const more = rest.length ? create("button", { type: "button", class: "link", onclick: () => { list.append(...rest.map(row)); more.remove(); } }, `All ${formatNumber(all.length)} files`) : null;
  if (rest.some(([path]) => path === currentFile)) more.click();
  return create("section", { class: "listing" }, create("h2", {}, "Files"), list, more,
    hidden ? create("p", { class: "when" }, `and ${formatCount(hidden, "more file")}`) : null);
}

function versions(skill, all) {
  const list = create("ol", { class: "versions" });
  const fill = (rows) => list.replaceChildren(...rows.map(([version, published, size, yanked]) =>
    create("li", yanked ? { class: "yanked" } : {},
      create("span", { class: "number" }, version),
      create("span", { class: "when" }, yanked ? create("strong", {}, "yanked") : published || formatSize(size)),
      yanked ? null : copyButton(installCommand(skill.name, version)),
      typeof yanked === "string" ? create("span", { class: "reason" }, create("bdi", {}, yanked)) : null)));
  fill(all.slice(0, MAX_VERSIONS));
  const more = all.length > MAX_VERSIONS ? create("button", { type: "button", class: "link", onclick: () => { fill(all); more.remove(); } }, `All ${formatNumber(all.length)} versions`) : null;
  return create("section", {}, create("h2", {}, "Versions"), list, more);
}

// The only place that parses HTML, and that permits scripts: files of skills, by name. skillpm has sanitized the HTML
// already; here it is sanitized once more, in case the page was modified. The Content-Security-Policy blocks other
// scripts and requests, but not a <meta> that redirects the reader.

const rules = {
  createHTML: (html) => html,
  createScriptURL(url) {
    if (!/^skills\/[a-z0-9-]+\.js\?[0-9a-f]{8}$/.test(url)) throw new TypeError("not the file of a skill");
    return url;
  },
};
const policy = globalThis.trustedTypes ? globalThis.trustedTypes.createPolicy("skillpm", rules) : rules;
const TAGS = new Set(
  ("P BR HR H2 H3 H4 H5 H6 UL OL LI BLOCKQUOTE PRE CODE EM STRONG S A SPAN TABLE THEAD TBODY TR TH TD").split(" "),
);
const SAFE_ATTRIBUTES = new Set(["class", "start", "target", "rel"]);

function parseSafeHtml(html) {
  // A document that is not displayed loads and runs nothing.
  const { body } = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  for (const element of body.querySelectorAll("*")) {
    if (!TAGS.has(element.tagName)) element.remove();
    for (const { name, value } of [...element.attributes]) {
      const isLink = name === "href" && element.tagName === "A" && /^(https?|mailto):/i.test(value);
      if (!isLink && !SAFE_ATTRIBUTES.has(name)) element.removeAttribute(name);
    }
  }
  return [...body.childNodes];
}

// The one place where HTML is read: what skillpm rendered and sanitised, looked at once more before it is shown. A policy
// forbids scripts and requests, but not that a <meta> leads the reader away.

const rendered = globalThis.trustedTypes
  ? globalThis.trustedTypes.createPolicy("skillpm", { createHTML: (html) => html })
  : { createHTML: (html) => html };
const TAGS = new Set(
  ("P BR HR H2 H3 H4 H5 H6 UL OL LI BLOCKQUOTE PRE CODE EM STRONG S A SPAN TABLE THEAD TBODY TR TH TD").split(" "),
);
const KEPT_AS_THEY_ARE = new Set(["class", "start", "target", "rel"]);

function textOf(html) {
  // A document of its own, which loads and runs nothing.
  const { body } = new DOMParser().parseFromString(rendered.createHTML(html), "text/html");
  for (const element of body.querySelectorAll("*")) {
    if (!TAGS.has(element.tagName)) element.remove();
    for (const { name, value } of [...element.attributes]) {
      const isLink = name === "href" && element.tagName === "A" && /^(https?|mailto):/i.test(value);
      if (!isLink && !KEPT_AS_THEY_ARE.has(name)) element.removeAttribute(name);
    }
  }
  return [...body.childNodes];
}

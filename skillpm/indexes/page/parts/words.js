// Elements, words and the clipboard. Text of skills only ever becomes text: nothing here makes HTML of it.

const at = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const icon = (name) => at(`icon-${name}`).content.cloneNode(true);
const grouped = (number) => number.toLocaleString("en");
const counted = (number, word) => `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;
const isWeb = (address) => /^https?:\/\/[^\s]+$/i.test(address);

function sized(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999500) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

// For screen readers: what changed without a change of focus.
function say(text) {
  at("said").textContent = text;
}

async function copy(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = copiedByHand(text); // a page from plain http has no clipboard
  }
  say(done ? `Copied: ${text}` : "This browser does not let the page copy.");
  if (!done || !button) return;
  button.classList.add("done");
  button.replaceChildren(icon("done"));
  clearTimeout(button.waiting);
  button.waiting = setTimeout(() => {
    button.classList.remove("done");
    button.replaceChildren(icon("copy"));
  }, 1600);
}

function copiedByHand(text) {
  const before = document.activeElement;
  const field = make("textarea", { class: "unseen", readonly: true });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before) before.focus({ preventScroll: true });
  return done;
}

function copyButton(text, what = "Copy") {
  const button = make("button", { type: "button", class: "copy", title: `${what}: ${text}`, "aria-label": `${what}: ${text}` });
  button.append(icon("copy"));
  button.addEventListener("click", (event) => {
    event.preventDefault();
    copy(text, button);
  });
  return button;
}

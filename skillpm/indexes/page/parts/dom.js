// Elements, formatting and the clipboard. Texts of skills are only inserted as text nodes, never as HTML.

const byId = (id) => document.getElementById(id);

function create(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const icon = (name) => byId(`icon-${name}`).content.cloneNode(true);
const formatNumber = (number) => number.toLocaleString("en");
const formatCount = (number, word) => `${formatNumber(number)} ${word}${number === 1 ? "" : "s"}`;
const isWebUrl = (address) => /^https?:\/\/[^\s]+$/i.test(address);

function formatSize(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999500) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

// For screen readers: announce a change that does not move the focus.
function announce(text) {
  byId("status").textContent = text;
}

async function copy(text, button) {
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    isCopied = copyBySelection(text); // the clipboard API requires https
  }
  announce(isCopied ? `Copied: ${text}` : "The browser does not allow copying.");
  if (!isCopied || !button) return;
  button.classList.add("done");
  button.replaceChildren(icon("done"));
  clearTimeout(button.timer);
  button.timer = setTimeout(() => {
    button.classList.remove("done");
    button.replaceChildren(icon("copy"));
  }, 1600);
}

function copyBySelection(text) {
  const focused = document.activeElement;
  const field = create("textarea", { class: "visually-hidden", readonly: true });
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused) focused.focus({ preventScroll: true });
  return isCopied;
}

function copyButton(text) {
  const button = create("button", { type: "button", class: "copy", title: `Copy: ${text}`, "aria-label": `Copy: ${text}` });
  button.append(icon("copy"));
  button.addEventListener("click", (event) => {
    event.preventDefault();
    copy(text, button);
  });
  return button;
}

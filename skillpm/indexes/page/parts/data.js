// The data of the index: the rows of the list, which are in the page, and the details of a skill, in a file of its own.

async function unpack(text) {
  const compressed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// The list is the last element, so that this script is ready when it arrives.
if (document.readyState === "loading") await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
const index = await unpack(byId("top").textContent).catch(() => {
  byId("count").textContent = "The skills cannot be shown: the browser is too old, or the page was not loaded completely.";
});
if (!index) return;
const skills = index.skills.map(([name, description, category, tags, latest, tokens, triggers, published, size, key, spec, dependencies], number) => ({
  name, description, category, tags, latest, tokens, triggers, published, size, key, spec, dependencies, number,
}));
const hasCategories = new Set(skills.map((skill) => skill.category)).size > 1;
const byName = new Map(skills.map((skill) => [skill.name, skill]));
const details = new Map();
const waiting = new Map();
const MAX_DETAILS = 50; // so that going back is fast, and reading a thousand skills does not fill the memory

async function loadDetails(skill) {
  if (!details.has(skill.name)) details.set(skill.name, loadFile(skill).then(unpack));
  const loading = details.get(skill.name);
  details.delete(skill.name);
  details.set(skill.name, loading); // a Map keeps insertion order: the first one is the least recently used
  if (details.size > MAX_DETAILS) details.delete(details.keys().next().value);
  try {
    return await loading;
  } catch (error) {
    details.delete(skill.name);
    throw error;
  }
}

// A script, since a page opened from a folder may not read other files. It calls `skillpmPage` with base64.
function loadFile(skill) {
  return new Promise((resolve, reject) => {
    waiting.set(skill.name, resolve);
    const script = document.createElement("script");
    script.onerror = script.onload = () => {
      script.remove();
      reject(new Error(`skills/${skill.name}.js`)); // no effect if the file was loaded
    };
    script.src = policy.createScriptURL(`skills/${skill.name}.js?${skill.key}`);
    document.head.append(script);
  });
}

globalThis.skillpmPage = (name, data) => waiting.get(name)?.(data);

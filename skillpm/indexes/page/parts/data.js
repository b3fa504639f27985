// The data of the index: the rows of the list, and the compressed parts with the details of the skills.

const index = JSON.parse(byId("top").textContent);
const skills = index.skills.map(([name, description, category, tags, latest, tokens, triggers], number) => ({
  name, description, category, tags, latest, tokens, triggers, number,
}));
const byName = new Map(skills.map((skill) => [skill.name, skill]));
const openParts = new Map();
const MAX_OPEN_PARTS = 6; // so that going back is fast, and reading a thousand skills does not fill the memory

async function loadDetails(skill) {
  const number = Math.floor(skill.number / index.part);
  if (!openParts.has(number)) openParts.set(number, openPart(number));
  const part = openParts.get(number);
  openParts.delete(number);
  openParts.set(number, part); // a Map keeps insertion order: the first one is the least recently used
  if (openParts.size > MAX_OPEN_PARTS) openParts.delete(openParts.keys().next().value);
  try {
    return (await part)[skill.number % index.part];
  } catch (error) {
    openParts.delete(number);
    throw error;
  }
}

async function openPart(number) {
  // On a slow connection, the list is shown before the parts have arrived.
  while (!byId(`part-${number}`) && document.readyState === "loading") {
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  }
  const compressed = Uint8Array.from(atob(byId(`part-${number}`).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

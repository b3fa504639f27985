// What the index says: the rows of the list, and the parts that hold the texts, opened when somebody reads.

const index = JSON.parse(at("top").textContent);
const skills = index.skills.map(([name, description, category, tags, latest, tokens, triggers], number) => ({
  name, description, category, tags, latest, tokens, triggers, number,
}));
const byName = new Map(skills.map((skill) => [skill.name, skill]));
const opened = new Map();
const KEPT = 6; // parts that stay open: going back and forth costs nothing, reading a thousand skills no memory

async function details(skill) {
  const number = Math.floor(skill.number / index.part);
  if (!opened.has(number)) opened.set(number, open(number));
  const part = opened.get(number);
  opened.delete(number);
  opened.set(number, part); // the last one used is the last one forgotten
  if (opened.size > KEPT) opened.delete(opened.keys().next().value);
  try {
    return (await part)[skill.number % index.part];
  } catch (error) {
    opened.delete(number);
    throw error;
  }
}

async function open(number) {
  // Over a slow line the list is there before the parts are.
  while (!at(`part-${number}`) && document.readyState === "loading") {
    await new Promise((go) => document.addEventListener("DOMContentLoaded", go, { once: true }));
  }
  const packed = Uint8Array.from(atob(at(`part-${number}`).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Which skills answer to some words, the best first. Every word must be found; a name counts more than a description.

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

function folded(skill) {
  skill.folded ??= {
    name: skill.name,
    tags: skill.tags.map(fold),
    triggers: skill.triggers.map(fold),
    category: fold(skill.category),
    description: ` ${fold(skill.description).replace(/[^\p{L}\p{N}]+/gu, " ")}`,
  };
  return skill.folded;
}

const wordsOf = (query) => fold(query).split(/[\s,;]+/).filter(Boolean).slice(0, 12);

function found(query, pool) {
  const words = wordsOf(query);
  if (!words.length) return pool;
  const hits = [];
  for (const skill of pool) {
    let total = skill.name === words.join("-") ? 200 : 0;
    for (const word of words) {
      const score = scored(folded(skill), word);
      total = score ? total + score : -1;
      if (!score) break;
    }
    if (total > 0) hits.push([total, skill]);
  }
  hits.sort((one, other) => other[0] - one[0] || one[1].number - other[1].number);
  return hits.map(([, skill]) => skill);
}

function scored(skill, word) {
  return ofName(skill.name, word) + ofWords(skill.tags, word, 30) + ofWords(skill.triggers, word, 20) +
    (skill.category.startsWith(word) ? 12 : 0) + ofText(skill.description, word);
}

function ofName(name, word) {
  if (name === word) return 100;
  if (name.startsWith(word)) return 60;
  if (name.includes(`-${word}`)) return 45;
  return word.length > 1 && name.includes(word) ? 25 : 0;
}

function ofWords(words, word, most) {
  if (words.includes(word)) return most;
  return words.some((text) => text.startsWith(word) || text.includes(` ${word}`)) ? most / 2 : 0;
}

function ofText(text, word) {
  if (text.includes(` ${word}`)) return 8;
  return word.length > 2 && text.includes(word) ? 3 : 0;
}

// For words that find nothing: names that differ by a slip of the keyboard.
function near(query) {
  const words = wordsOf(query.replaceAll("-", " "));
  const close = [];
  for (const skill of skills) {
    const parts = skill.name.split("-");
    let total = 0;
    for (const word of words) {
      const best = Math.min(...parts.map((part) => distance(word, part)));
      total = best <= Math.max(1, Math.floor(word.length / 4)) ? total + best : Infinity;
      if (total === Infinity) break;
    }
    if (words.length && total !== Infinity) close.push([total, skill]);
  }
  close.sort((one, other) => one[0] - other[0] || one[1].name.length - other[1].name.length);
  return close.slice(0, 6).map(([, skill]) => skill);
}

// Letters to insert, drop, change or swap; far apart is far apart, however far.
function distance(one, other) {
  if (Math.abs(one.length - other.length) > 3) return Infinity;
  let before = [], last = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length];
}

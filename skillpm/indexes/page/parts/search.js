// Search: all words must match. Matches in names score higher than those in tags, triggers, categories, descriptions.

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// The searchable texts of a skill, without accents and upper case.
function foldedTexts(skill) {
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

function findSkills(query, pool) {
  const words = wordsOf(query);
  if (!words.length) return pool;
  const hits = [];
  for (const skill of pool) {
    let total = skill.name === words.join("-") ? 200 : 0;
    for (const word of words) {
      const score = scoreSkill(foldedTexts(skill), word);
      total = score ? total + score : -1;
      if (!score) break;
    }
    if (total > 0) hits.push([total, skill]);
  }
  hits.sort((one, other) => other[0] - one[0] || one[1].number - other[1].number);
  return hits.map(([, skill]) => skill);
}

function scoreSkill(skill, word) {
  return scoreName(skill.name, word) + scoreList(skill.tags, word, 30) + scoreList(skill.triggers, word, 20) +
    (skill.category.startsWith(word) ? 12 : 0) + scoreText(skill.description, word);
}

function scoreName(name, word) {
  if (name === word) return 100;
  if (name.startsWith(word)) return 60;
  if (name.includes(`-${word}`)) return 45;
  return word.length > 1 && name.includes(word) ? 25 : 0;
}

function scoreList(texts, word, score) {
  if (texts.includes(word)) return score;
  return texts.some((text) => text.startsWith(word) || text.includes(` ${word}`)) ? score / 2 : 0;
}

function scoreText(text, word) {
  if (text.includes(` ${word}`)) return 8;
  return word.length > 2 && text.includes(word) ? 3 : 0;
}

// For a query without results: skills whose names differ from it by typing errors.
function similarSkills(query) {
  const words = wordsOf(query.replaceAll("-", " "));
  const similar = [];
  for (const skill of skills) {
    const parts = skill.name.split("-");
    let total = 0;
    for (const word of words) {
      const best = Math.min(...parts.map((part) => editDistance(word, part)));
      total = best <= Math.max(1, Math.floor(word.length / 4)) ? total + best : Infinity;
      if (total === Infinity) break;
    }
    if (words.length && total !== Infinity) similar.push([total, skill]);
  }
  similar.sort((one, other) => one[0] - other[0] || one[1].name.length - other[1].name.length);
  return similar.slice(0, 6).map(([, skill]) => skill);
}

// Letters to insert, delete, replace or swap; Infinity for words of very different lengths.
function editDistance(one, other) {
  if (Math.abs(one.length - other.length) > 3) return Infinity;
  let beforeLast = [], last = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return last[other.length];
}

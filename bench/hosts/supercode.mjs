// The loader of SuperCode (loader.ts): `node supercode.mjs FOLDER` prints the name and the path of each skill of the
// registry whose file exists, separated by a tab.

import * as fs from 'node:fs';
import * as path from 'node:path';

const folder = process.argv[2];
const registry = JSON.parse(fs.readFileSync(path.join(folder, 'skills.json'), 'utf-8'));
for (const skill of registry.skills) {
  const file = path.join(folder, skill.filePath);
  if (fs.existsSync(file)) {
    console.log(`${skill.name}\t${file}`);
  }
}

// Fails if the initial page load exceeds its size limit: index.html and the files it references,
// gzip-compressed.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_KB = 500;
const html = readFileSync("dist/index.html", "utf8");
const files = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((match) => match[1]);
let total = gzipSync(html).length;
for (const file of files) {
  const size = gzipSync(readFileSync(`dist/${file}`)).length;
  total += size;
  console.log(`${(size / 1000).toFixed(1).padStart(8)} kB  ${file}`);
}
console.log(`${(total / 1000).toFixed(1).padStart(8)} kB  initial load (limit ${LIMIT_KB} kB)`);
if (files.length === 0 || total > LIMIT_KB * 1000) {
  console.error("the initial load exceeds its limit, or index.html references no files");
  process.exit(1);
}

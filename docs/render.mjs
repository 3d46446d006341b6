// Pictures of the formulas in docs/formulas.md: every <img src="img/NAME.svg"> shows the ```text block that follows it.
//
//   npm install --prefix FOLDER mathjax-full@3
//   NODE_PATH=FOLDER/node_modules node docs/render.mjs
//
// The LaTeX stands in the picture as <desc>, so that a test can tell whether a picture is up to date.  A formula that is
// wider than its column is an error.
import {createRequire} from 'node:module';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const require = createRequire(join(process.env.NODE_PATH ?? '.', 'index.js'));
const {mathjax} = require('mathjax-full/js/mathjax.js');
const {TeX} = require('mathjax-full/js/input/tex.js');
const {SVG} = require('mathjax-full/js/output/svg.js');
const {liteAdaptor} = require('mathjax-full/js/adaptors/liteAdaptor.js');
const {RegisterHTMLHandler} = require('mathjax-full/js/handlers/html.js');
const {AllPackages} = require('mathjax-full/js/input/tex/AllPackages.js');

const COLUMN = 620; // pixels
const EX = 8.5;     // pixels of an ex
const MARGIN = 6;
const docs = dirname(fileURLToPath(import.meta.url));
const adaptor = liteAdaptor();
RegisterHTMLHandler(adaptor);
const page = mathjax.document('', {
  InputJax: new TeX({packages: AllPackages, formatError: (jax, error) => { throw error; }}),
  OutputJax: new SVG({fontCache: 'local'}),
});

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

function picture(latex) {
  // Numbers of equations would make the picture as wide as a page.
  const shown = latex.replace(/\{align\}/g, '{align*}');
  const svg = adaptor.innerHTML(page.convert(shown, {display: true, ex: EX, em: 2 * EX, containerWidth: 80 * EX}));
  const [, left, top, wide, high] = svg.match(/viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"/).map(Number);
  const unit = 1000 / (2 * EX); // of the view box, per pixel
  const pad = MARGIN * unit;
  const size = [wide + 2 * pad, high + 2 * pad].map((u) => Math.ceil(u / unit));
  const box = [left - pad, top - pad, wide + 2 * pad, high + 2 * pad].map((u) => u.toFixed(0)).join(' ');
  const inner = svg.slice(svg.indexOf('>') + 1, svg.lastIndexOf('</svg>'));
  const back = `<rect x="${(left - pad).toFixed(0)}" y="${(top - pad).toFixed(0)}" width="100%" height="100%" fill="white"/>`;
  return {
    width: size[0],
    text: `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${size[0]}" `
      + `height="${size[1]}" viewBox="${box}">\n<desc>${escaped(latex)}</desc>\n${back}\n`
      + `${inner.replaceAll('currentColor', 'black')}\n</svg>\n`,
  };
}

const text = readFileSync(join(docs, 'formulas.md'), 'utf8');
let failed = false;
for (const [, name, latex] of text.matchAll(/<img src="img\/([\w-]+)\.svg"[\s\S]*?^```text\n([\s\S]*?)\n```$/gm)) {
  const made = picture(latex);
  writeFileSync(join(docs, 'img', `${name}.svg`), made.text);
  const verdict = made.width > COLUMN ? 'TOO WIDE' : 'ok';
  failed ||= made.width > COLUMN;
  console.log(`${name}.svg  ${made.width} px  ${verdict}`);
}
process.exit(failed ? 1 : 0);

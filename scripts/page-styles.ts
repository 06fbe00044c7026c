/**
 * An esbuild plugin that adapts xterm.js to the policy of the dashboard's page, which allows neither `<style>` elements nor `style`
 * attributes: its style elements become constructed style sheets, and its attributes assignments of `cssText`.
 */
import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

const FILE = /\/@xterm\/xterm\/lib\/xterm\.mjs$/;
const STYLE_ELEMENT = /[\w.]+\.createElement\("style"\)/g;
const STYLE_ATTRIBUTE = /([\w.]+)\.setAttribute\("style",/g;
/** Ways of xterm.js 6.0 to add styles. A version with others must be looked at. */
const EXPECTED = { elements: 3, attributes: 1 };

/** An element without a meaning, whose text is that of a style sheet of the document. */
const PRELUDE = `
function styleElement() {
  const sheet = new CSSStyleSheet();
  const element = document.createElement('template');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const set = (text) => sheet.replaceSync(text);
  Object.defineProperty(element, 'textContent', { set });
  Object.defineProperty(element, 'innerText', { set });
  Object.defineProperty(element, 'sheet', { value: sheet });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
function styleText(element, text) {
  element.style.cssText = text;
}
`;

export const pageStyles: Plugin = {
  name: 'page-styles',
  setup(build) {
    build.onLoad({ filter: FILE }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const found = {
        elements: source.match(STYLE_ELEMENT)?.length ?? 0,
        attributes: source.match(STYLE_ATTRIBUTE)?.length ?? 0,
      };
      if (JSON.stringify(found) !== JSON.stringify(EXPECTED))
        throw new Error(`${path} adds styles in other ways than expected: ${JSON.stringify(found)}`);
      const adapted = source
        .replaceAll(STYLE_ELEMENT, 'styleElement()')
        .replaceAll(STYLE_ATTRIBUTE, (_call, element) => `styleText(${element},`);
      return { contents: PRELUDE + adapted, loader: 'js' };
    });
  },
};

/**
 * An esbuild plugin that adapts xterm.js to the dashboard page's Content Security Policy, which allows neither `<style>` elements nor
 * `style` attributes. It replaces `<style>` elements with constructed style sheets, and `style` attributes with `element.style.cssText`.
 */
import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

const FILE = /\/@xterm\/xterm\/lib\/xterm\.mjs$/;
const STYLE_ELEMENT = /[\w.]+\.createElement\("style"\)/g;
const STYLE_ATTRIBUTE = /([\w.]+)\.setAttribute\("style",/g;
/** How often xterm.js 6.0 adds styles. The build fails on any other count, because a new version may add styles in other ways. */
const EXPECTED = { elements: 3, attributes: 1 };

/** Functions for the adapted source. `styleElement` returns an element that sets its text on a constructed style sheet of the document. */
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
        throw new Error(
          `${path} adds styles at other places than expected: ${JSON.stringify({ found, expected: EXPECTED })}`,
        );
      const adapted = source
        .replaceAll(STYLE_ELEMENT, 'styleElement()')
        .replaceAll(STYLE_ATTRIBUTE, (_call, element) => `styleText(${element},`);
      return { contents: PRELUDE + adapted, loader: 'js' };
    });
  },
};

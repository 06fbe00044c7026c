/** Checks the documents: links, generated pages, and the index of differences. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { FIELDS } from '../../packages/kubelet-configuration/src/fields/field-table.ts';
import { KEY_ONLY_FIELDS } from '../../packages/kubelet-configuration/src/fields/key-only.ts';
import { kubeletConfigurationPages } from '../../scripts/kubelet-configuration-pages.ts';
import { read, tracked } from './source-tree.ts';

const documents = tracked.filter((path) => path.endsWith('.md') && !path.startsWith('tests/'));
const pagesOf = (folder: string) =>
  tracked.filter((path) => path.startsWith(folder)).map((path) => posix.basename(path));

/**
 * Maximum number of characters of an entry in the lists of differences from upstream: about four sentences. Longer explanations belong on a
 * separate page.
 */
const MAX_ENTRY_CHARACTERS = 550;

/** Returns the anchors that GitHub generates for a document's headings. */
function anchorsOf(path: string): string[] {
  const text = read(path).replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
    match[1]!
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function linksOf(path: string): string[] {
  const text = read(path).replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!).filter((link) => !/^[a-z]+:/.test(link));
}

function isBroken(path: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file));
  const isThere = tracked.includes(target) || tracked.some((one) => one.startsWith(`${target.replace(/\/$/, '')}/`));
  return !isThere || (anchor !== undefined && !anchorsOf(target).includes(anchor));
}

test('links in the documents point to existing files and headings', () => {
  const links = documents.flatMap((path) => linksOf(path).map((link) => ({ path, link })));
  assert.ok(links.length >= 150, `only ${links.length} links were found`);
  assert.deepEqual(
    links.filter(({ path, link }) => isBroken(path, link)),
    [],
  );
});

test('docs/kubelet-configuration matches the field table: run make docs', () => {
  const folder = 'docs/kubelet-configuration/';
  const pages = kubeletConfigurationPages(read(`${folder}README.md`));
  assert.deepEqual(pagesOf(folder).sort(), [...pages.keys()].sort());
  for (const [path, text] of pages) assert.equal(read(folder + path), text, `${path} is stale: run make docs`);
});

test('docs/kubelet-configuration has exactly one entry for each field and flag', () => {
  const text = pagesOf('docs/kubelet-configuration/').map((page) => read(`docs/kubelet-configuration/${page}`));
  const named = [...text.join('\n').matchAll(/^(?:## |- Flag: |- )`([\w.-]+)`(?: as .*|: .*)?$/gm)].map(
    (match) => match[1]!,
  );
  const upstreams = [...FIELDS].filter(([name]) => !Object.hasOwn(KEY_ONLY_FIELDS, name));
  const expected = upstreams.flatMap(([name, { flag }]) => (flag === undefined ? [name] : [`--${flag}`]));
  for (const name of expected) assert.equal(named.filter((one) => one === name).length, 1, name);
});

test('the index of docs/differences lists each page once, by its title', () => {
  const folder = 'docs/differences/';
  const listed = [...read(`${folder}README.md`).matchAll(/^- \[(.+)\]\((.+)\): \S.*\.$/gm)].map((match) =>
    match.slice(1, 3),
  );
  const titles = pagesOf(folder)
    .filter((page) => page !== 'README.md')
    .map((page) => [/^# (.*)$/m.exec(read(folder + page))?.[1], page]);
  assert.ok(titles.length >= 10);
  assert.deepEqual(listed.sort(), titles.sort());
});

test('each entry in docs/differences has its own heading and a short paragraph about Podwright', () => {
  const entries = pagesOf('docs/differences/').flatMap((page) =>
    read(`docs/differences/${page}`)
      .split(/^## /m)
      .slice(1)
      .map((entry) => ({ page, heading: entry.split('\n')[0]!, text: entry.split('\n').slice(1).join('\n').trim() })),
  );
  assert.ok(entries.length >= 150);
  for (const { page, heading, text } of entries) {
    const alike = entries.filter((other) => other.page === page && other.heading === heading);
    assert.equal(alike.length, 1, `${page}: two entries are named ${heading}`);
    assert.match(text, /^(?!\|)[^\n]*podwright[^\n]*$/i, `${page}: ${heading}`);
    assert.ok(text.length <= MAX_ENTRY_CHARACTERS, `${page}: ${heading} has ${text.length} characters`);
  }
});

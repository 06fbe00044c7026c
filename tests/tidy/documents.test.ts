/** Holds the documents: links, generated pages, and the keys that they name. */
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import * as z from 'zod';
import { FileSchema } from '../../packages/cli/src/settings/file-schema.ts';
import { FIELDS } from '../../packages/kubelet-configuration/src/fields/field-table.ts';
import { kubeletConfigurationPages } from '../../scripts/kubelet-configuration-pages.ts';
import { read, tracked } from './source-tree.ts';

const documents = tracked.filter((path) => path.endsWith('.md') && !path.startsWith('tests/'));
const pagesOf = (folder: string) =>
  tracked.filter((path) => path.startsWith(folder)).map((path) => posix.basename(path));

/** Keys of `[kubelet]` in Podwright's file that upstream has no field or flag for. */
const KEYS_WITHOUT_FIELD = ['kubelet.device_plugin_dir', 'kubelet.net_raw_default'];

/** The anchors that GitHub gives the headings of a document. */
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

test('links of the documents lead to files and headings of the tree', () => {
  const links = documents.flatMap((path) => linksOf(path).map((link) => ({ path, link })));
  assert.ok(links.length >= 150, `only ${links.length} links were found`);
  assert.deepEqual(
    links.filter(({ path, link }) => isBroken(path, link)),
    [],
  );
});

test('docs/kubelet-configuration is what the table of fields says: run make docs', () => {
  const folder = 'docs/kubelet-configuration/';
  const pages = kubeletConfigurationPages(read(`${folder}README.md`));
  assert.deepEqual(pagesOf(folder).sort(), [...pages.keys()].sort());
  for (const [path, text] of pages) assert.equal(read(folder + path), text, `${path} is stale: run make docs`);
});

test('docs/kubelet-configuration has an entry for every field and flag, and one only', () => {
  const text = pagesOf('docs/kubelet-configuration/').map((page) => read(`docs/kubelet-configuration/${page}`));
  const named = [...text.join('\n').matchAll(/^(?:## |- Flag: |- )`([\w.-]+)`(?: as .*|: .*)?$/gm)].map(
    (match) => match[1]!,
  );
  const expected = [...FIELDS].flatMap(([name, { flag }]) => (flag === undefined ? [name] : [`--${flag}`]));
  for (const name of expected) assert.equal(named.filter((one) => one === name).length, 1, name);
});

type JsonSchema = { properties?: Record<string, JsonSchema> };

/** Dotted paths of all keys and tables of a schema. */
function keysOf({ properties = {} }: JsonSchema, above: string[] = []): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = [...above, name];
    return [path.join('.'), ...keysOf(schema, path)];
  });
}

test("fields name keys that Podwright's file has, and every key of [kubelet] is named by a field", () => {
  const keys = keysOf(z.toJSONSchema(FileSchema, { io: 'input' }) as JsonSchema);
  const named = new Set([...FIELDS.values()].flatMap(({ key }) => key ?? []));
  assert.deepEqual(
    [...named].filter((key) => !keys.includes(key)),
    [],
  );
  const isCovered = (key: string) =>
    named.has(key) || KEYS_WITHOUT_FIELD.includes(key) || [...named].some((one) => key.startsWith(`${one}.`));
  const leaves = keys.filter((key) => !keys.some((other) => other.startsWith(`${key}.`)));
  assert.deepEqual(
    leaves.filter((key) => key.startsWith('kubelet.') && !isCovered(key)),
    [],
  );
});

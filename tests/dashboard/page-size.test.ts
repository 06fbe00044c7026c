/** The size of the files that a browser loads before the page is displayed, and what the bundle must not contain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildPage } from '../../scripts/dashboard-page.ts';

/** Maximum gzipped size of the files loaded for the first paint. Graphs, the terminal and the editor are loaded lazily. */
const MAX_FIRST_BYTES = 60_000;

test('the first paint requires less than 60 KB, and no file is loaded from another host or evaluates text as code', async () => {
  const { files } = await buildPage();
  const document = files.get('/')!.toString();
  const named = [...document.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => `/${path}`);
  assert.ok(named.length >= 3, document);
  const sizes = ['/', ...named].map((path) => [path, gzipSync(files.get(path)!).length] as const);
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  assert.ok(total <= MAX_FIRST_BYTES, `${total} bytes: ${sizes.map((size) => size.join(' ')).join(', ')}`);
  for (const [path, contents] of files) {
    const text = contents.toString();
    assert.doesNotMatch(text, /\beval\(|\bnew Function\(|\bfrom ?"node:|\bimport ?"node:/, path);
    assert.doesNotMatch(text, /<script>|<style|\bon(?:click|load|error)="|(?:src|href)="(?:https?:)?\/\//, path);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytePathOf, displayPath, fsPath, layerComponents } from './byte-path.ts';

test('names are split into components, and different spellings of a path have the same components', () => {
  const check = (name: string, expected: string[]) =>
    assert.deepEqual(layerComponents(Buffer.from(name)), expected, name);
  check('a/b', ['a', 'b']);
  check('./a//b/', ['a', 'b']);
  check('/a/./b', ['a', 'b']);
  check('a/../b', ['b']);
  check('a/b/../../c', ['c']);
  check('', []);
  check('./', []);
  check('/', []);
  check('...', ['...']);
});

test('names leading out of the layer are rejected', () => {
  for (const name of ['..', '../a', 'a/../..', '/..', './../a', 'a/../../a']) {
    assert.throws(() => layerComponents(Buffer.from(name)), { code: 'invalid_argument', message: /leads out/ }, name);
  }
  assert.throws(() => layerComponents(Buffer.alloc(4097, 'x')), { code: 'invalid_argument', message: /4097 bytes/ });
});

test('arbitrary bytes in paths are preserved', () => {
  const bytes = Buffer.from(Array.from({ length: 255 }, (_, index) => index + 1));
  assert.deepEqual(fsPath(bytePathOf(bytes)), bytes);
  assert.equal(fsPath(bytePathOf('plain/path')), 'plain/path');
  assert.deepEqual(fsPath(bytePathOf('ü')), Buffer.from('ü'));
  assert.equal(displayPath(bytePathOf('ü')), '"ü"');
});

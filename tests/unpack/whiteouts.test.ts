/** A layer's whiteouts, and its references to files in lower layers (image-spec v1, layer.md). */
import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { mountAll } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { directory, file, hardLink, symlink, text, unpackEntries } from './layer.fixture.ts';
import { randomLayer } from './layer-model.fixture.ts';
import { Scratch } from './scratch.ts';

const system = loadSystem();
const unpacker = new LayerUnpacker({ system });
after(() => unpacker[Symbol.asyncDispose]());

/**
 * Returns the tree under a directory, by path: directories have paths that end in `/` and the content '', symbolic links have the content
 * `-> TARGET`.
 */
function contents(path: string, prefix = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(path)) {
    const stat = lstatSync(join(path, name));
    if (stat.isDirectory())
      Object.assign(found, { [`${prefix}${name}/`]: '' }, contents(join(path, name), `${prefix}${name}/`));
    else found[prefix + name] = stat.isSymbolicLink() ? `-> ${readlinkSync(join(path, name))}` : text(join(path, name));
  }
  return found;
}

const base: FixtureEntry[] = [
  directory('a'),
  file('a/1', 'base'),
  file('a/2', 'base'),
  directory('a/b'),
  file('a/b/3', 'base'),
  file('top', 'base'),
];

/**
 * Asserts that applying `upper` to `lower` results in the expected contents, with both types of snapshots: an overlay of the layers, and a
 * copy that each layer is applied to.
 */
async function check(upper: FixtureEntry[], expected: Record<string, string>, lower = base): Promise<void> {
  await checkLayers([lower, upper], expected);
}

/** Like `check`, with any number of layers, lowest first. */
async function checkLayers(layers: FixtureEntry[][], expected: Record<string, string>): Promise<void> {
  using scratch = new Scratch();
  const parentDirectories: string[] = [];
  for (const [index, entries] of layers.entries()) {
    const name = index === layers.length - 1 ? 'upper' : `layer-${index}`;
    await unpackEntries(unpacker, scratch, entries, { name, parentDirectories: [...parentDirectories] });
    parentDirectories.unshift(scratch.at(name));
  }
  for (const name of ['work', 'merged']) mkdirSync(scratch.at(name));
  const directories = [
    `lowerdir=${parentDirectories.slice(1).join(':')}`,
    `upperdir=${scratch.at('upper')}`,
    `workdir=${scratch.at('work')}`,
  ];
  mountAll(system, [{ type: 'overlay', source: 'overlay', options: directories }], scratch.at('merged'));
  try {
    assert.deepEqual(contents(scratch.at('merged')), expected, 'overlay');
  } finally {
    unmountTree(system, scratch.at('merged'));
  }
  const [lowest, ...others] = layers;
  await unpackEntries(unpacker, scratch, lowest!, { name: 'copy' });
  for (const entries of others)
    await unpackEntries(unpacker, scratch, entries, { name: 'copy', overlayWhiteouts: false });
  assert.deepEqual(contents(scratch.at('copy')), expected, 'copy');
}

const all = { 'a/': '', 'a/1': 'base', 'a/2': 'base', 'a/b/': '', 'a/b/3': 'base', top: 'base' };
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !names.some((prefix) => name.startsWith(prefix))));

suite('whiteouts', () => {
  test('delete files and directories in lower layers', async () => {
    await check([file('a/.wh.1')], without('a/1'));
    await check([file('.wh.a')], without('a/'));
    await check([directory('a'), file('a/.wh.b'), file('.wh.top')], without('a/b', 'top'));
  });

  test('of missing files have no effect', async () => {
    await check([file('.wh.absent'), file('nowhere/at/all/.wh.x')].slice(0, 1), all);
    await check([file('a/.wh.1'), file('a/.wh.1')], without('a/1'));
  });

  test('that are opaque hide the directory’s lower contents, wherever they are in the archive', async () => {
    const opaque = file('a/.wh..wh..opq');
    const expected = { ...without('a/'), 'a/': '', 'a/new': 'new' };
    await check([directory('a'), opaque, file('a/new', 'new')], expected);
    await check([directory('a'), file('a/new', 'new'), opaque], expected);
    await check([opaque, file('a/new', 'new')], expected);
    const below = { ...without('a/'), 'a/': '', 'a/b/': '', 'a/b/new': 'new' };
    await check([file('a/b/new', 'new'), opaque, file('a/b/.wh..wh..opq')], below);
  });

  test('do not delete files in the same layer, wherever they are in the archive', async () => {
    const expected = { ...all, 'a/1': 'new' };
    await check([file('a/1', 'new'), file('a/.wh.1')], expected);
    await check([file('a/.wh.1'), file('a/1', 'new')], expected);
  });

  test('of a directory hide its lower contents if the layer re-creates the directory', async () => {
    const expected = { ...without('a/b'), 'a/b/': '', 'a/b/new': 'new' };
    await check([file('a/.wh.b'), directory('a/b'), file('a/b/new', 'new')], expected);
    await check([directory('a/b'), file('a/b/new', 'new'), file('a/.wh.b')], expected);
    await check([file('a/.wh.b'), file('a/b/new', 'new')], expected);
  });

  test('share one inode', async () => {
    using scratch = new Scratch();
    const entries = Array.from({ length: 3000 }, (_, index) => file(`.wh.f${index}`));
    await unpackEntries(unpacker, scratch, entries, { parentDirectories: [scratch.directory('base')] });
    const whiteouts = readdirSync(scratch.at('layer')).map((name) => lstatSync(join(scratch.at('layer'), name)));
    assert.equal(whiteouts.length, 3000);
    assert.ok(whiteouts.every((stat) => stat.isCharacterDevice() && stat.rdev === 0));
    assert.equal(new Set(whiteouts.map(({ ino }) => ino)).size, 1);
  });

  test('stay in effect if a later entry replaces the first whiteout', async () => {
    const rest = without('a/1', 'a/2', 'a/b');
    const deletions = [file('a/.wh.2'), file('a/.wh.b')];
    await check([file('a/.wh.1'), file('a/1', 'new'), ...deletions], { ...rest, 'a/1': 'new' });
    await check([file('a/.wh.1'), symlink('a/1', '/etc/passwd'), ...deletions], { ...rest, 'a/1': '-> /etc/passwd' });
    await check([file('a/.wh.1'), directory('a/1'), file('a/1/x', 'new'), ...deletions], {
      ...rest,
      'a/1/': '',
      'a/1/x': 'new',
    });
    await check([file('a/.wh.1'), file('a/1/x', 'new'), ...deletions], { ...rest, 'a/1/': '', 'a/1/x': 'new' });
  });

  test('stay in effect if a later entry replaces the directory of the first whiteout', async () => {
    const rest = without('a', 'top');
    await check([file('a/.wh.1'), file('a', 'a file'), file('.wh.top')], { ...rest, a: 'a file' });
    await check([file('a/.wh.1'), symlink('a', 'a'), file('.wh.top')], { ...rest, a: '-> a' });
    await check([file('a/.wh.1'), symlink('a', '/etc'), file('.wh.top')], { ...rest, a: '-> /etc' });
  });

  test('of a directory stay in effect if the layer replaces it by a file and then by a directory', async () => {
    const expected = { ...without('a'), 'a/': '', 'a/new': 'new' };
    await check([file('.wh.a'), file('a', 'x'), directory('a'), file('a/new', 'new')], expected);
    await check([file('a', 'x'), directory('a'), file('a/new', 'new')], expected);
  });

  test('leave no files in a new or opaque directory', async () => {
    await check([directory('new'), file('new/.wh.x'), file('new/y', 'y')], { ...all, 'new/': '', 'new/y': 'y' });
    const opaque = file('a/.wh..wh..opq');
    const expected = { ...without('a/'), 'a/': '', 'a/b/': '', 'a/b/new': 'new' };
    const inside = [file('a/.wh.1'), file('a/b/.wh.3'), file('a/b/new', 'new')];
    await check([...inside, opaque], expected);
    await check([opaque, ...inside], expected);
  });

  test('of files hidden by an opaque whiteout in a middle layer leave no files', async () => {
    const expected = { ...without('a/'), 'a/': '', 'a/b/': '' };
    const deletions = [directory('a/b'), file('a/b/.wh.3'), file('a/.wh.1')];
    await checkLayers([base, [file('a/.wh..wh..opq')], deletions], expected);
    await checkLayers([base, [file('a/.wh..wh..opq')], [directory('a')], deletions], expected);
    await checkLayers([base, [file('a/b/.wh..wh..opq')], deletions], { ...expected, 'a/2': 'base' });
    await checkLayers([base, [directory('a'), file('a/b/4', 'x')], deletions], {
      ...expected,
      'a/2': 'base',
      'a/b/4': 'x',
    });
  });

  test('delete the lower file that the same layer has a hard link to', async () => {
    const expected = { ...without('a/1'), link: 'base' };
    await check([hardLink('link', 'a/1'), file('a/.wh.1')], expected);
    await check([hardLink('link', 'a/1'), file('a/.wh..wh..opq')], { ...without('a/'), 'a/': '', link: 'base' });
    await check([hardLink('link', 'a/1'), file('.wh.a')], { ...without('a/'), link: 'base' });
    await check([hardLink('link', 'a/1'), file('a/1/x', 'new')], { ...expected, 'a/1/': '', 'a/1/x': 'new' });
    await check([hardLink('link', 'a/1'), file('a/1', 'new'), file('a/.wh.1')], { ...expected, 'a/1': 'new' });
    await check([hardLink('a/1', 'a/1'), file('a/.wh.1')], all);
  });

  test('and other entries, in any order, have the result defined by the image-spec', async () => {
    const names = ['a', 'b', 'c'];
    const lower = names.flatMap((one) => [
      directory(one),
      file(`${one}/c`, 'lower'),
      ...names.slice(0, 2).flatMap((two) => [directory(`${one}/${two}`), file(`${one}/${two}/b`, 'lower')]),
    ]);
    for (let seed = 1; seed <= 24; seed++) {
      const { entries, model } = randomLayer(lower, seed);
      const listed = entries.map(({ name, flag = '0' }) => `${name} (${flag})`);
      await check(entries, model.contents(), lower).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${listed.join(', ')}`, { cause: error });
      });
    }
  });

  test('of AUFS metadata are ignored', async () => {
    await check(
      [file('.wh..wh.aufs'), directory('.wh..wh.plnk'), file('.wh..wh.plnk/12.34', 'x'), directory('.wh..wh.orph')],
      all,
    );
  });
});

suite('entries', () => {
  test('replace files of a different type, in lower layers and in the same layer', async () => {
    await check([file('a', 'a file')], { ...without('a'), a: 'a file' });
    await check([directory('top'), file('top/x', 'x')], { ...without('top'), 'top/': '', 'top/x': 'x' });
    await check([file('top/x', 'x')], { ...without('top'), 'top/': '', 'top/x': 'x' });
    await check([directory('new/deep'), file('new/deep/x', 'x'), symlink('new', 'top')], { ...all, new: '-> top' });
    await check([file('x', '1'), file('x', '2'), directory('x'), file('x/y', '3')], { ...all, 'x/': '', 'x/y': '3' });
  });

  test('without an entry for the parent directory get it with its attributes from the lower layers', async () => {
    using scratch = new Scratch();
    const attributes = { mode: 0o2751, uid: 12, gid: 34, mtime: 1_000_000_000 };
    const pax = { 'SCHILY.xattr.user.probe': 'x', mtime: '1000000000' };
    await unpackEntries(unpacker, scratch, [directory('d', { ...attributes, pax }), directory('d/e')], {
      name: 'base',
    });
    await unpackEntries(unpacker, scratch, [file('.wh.d')], {
      name: 'middle',
      parentDirectories: [scratch.at('base')],
    });
    for (const [name, parents, expected] of [
      ['upper', ['base'], [0o2751, 12, 34, 1_000_000_000]],
      ['hidden', ['middle', 'base'], [0o755, 0, 0, undefined]],
    ] as const) {
      const parentDirectories = parents.map((parent) => scratch.at(parent));
      await unpackEntries(unpacker, scratch, [file('d/e/f/new', 'x')], { name, parentDirectories });
      const stat = lstatSync(join(scratch.at(name), 'd'));
      const { mtimeMs } = stat;
      const seen = [stat.mode & 0o7777, stat.uid, stat.gid, expected[3] === undefined ? undefined : mtimeMs / 1000];
      assert.deepEqual(seen, expected, name);
    }
    assert.equal(system.getXattr(join(scratch.at('upper'), 'd'), 'user.probe')?.toString(), 'x');
  });

  test('of the root set its attributes', async () => {
    using scratch = new Scratch();
    await unpackEntries(unpacker, scratch, [directory('./', { mode: 0o1710, uid: 5, gid: 6, mtime: 77 }), file('./x')]);
    const stat = lstatSync(scratch.at('layer'));
    assert.deepEqual([stat.mode & 0o7777, stat.uid, stat.gid, stat.mtimeMs], [0o1710, 5, 6, 77_000]);
  });

  test('with absolute names are created inside the layer', async () => {
    await check([file('/etc/hosts', 'x'), file('//a/./1', 'new')], {
      ...all,
      'a/1': 'new',
      'etc/': '',
      'etc/hosts': 'x',
    });
  });
});

suite('hard links to a layer below', () => {
  test('copy the file up with all its attributes', async () => {
    using scratch = new Scratch();
    const pax = { 'SCHILY.xattr.user.probe': 'x' };
    const original = file('d/original', 'content', { mode: 0o4755, uid: 12, gid: 34, mtime: 1e9, pax });
    await unpackEntries(unpacker, scratch, [directory('d', { mode: 0o700 }), original, symlink('d/link', 'original')], {
      name: 'base',
    });
    await unpackEntries(unpacker, scratch, [hardLink('copy', 'd/original'), hardLink('e/link', 'd/link')], {
      name: 'upper',
      parentDirectories: [scratch.at('base')],
    });
    const [copy, up, down] = ['upper/copy', 'upper/d/original', 'base/d/original'].map((path) =>
      lstatSync(scratch.at(path)),
    );
    assert.equal(copy!.ino, up!.ino);
    assert.notEqual(copy!.ino, down!.ino);
    assert.deepEqual([copy!.mode, copy!.uid, copy!.gid, copy!.mtimeMs], [down!.mode, 12, 34, 1e12]);
    assert.equal(text(scratch.at('upper/copy')), 'content');
    assert.equal(system.getXattr(scratch.at('upper/copy'), 'user.probe')?.toString(), 'x');
    assert.equal(readlinkSync(scratch.at('upper/e/link')), 'original');
    assert.equal(lstatSync(scratch.at('upper/d')).mode & 0o7777, 0o700);
  });

  test('are rejected if the file was deleted in an intermediate or the same layer, or never existed', async () => {
    using scratch = new Scratch();
    await unpackEntries(unpacker, scratch, [file('x', '1')], { name: 'base' });
    const one = [scratch.at('base')];
    await unpackEntries(unpacker, scratch, [file('.wh.x')], { name: 'middle', parentDirectories: one });
    const both = [scratch.at('middle'), scratch.at('base')];
    const refused = { code: 'invalid_argument', message: /hard link to "x", which does not exist/ };
    await assert.rejects(
      unpackEntries(unpacker, scratch, [hardLink('y', 'x')], { name: 'u1', parentDirectories: both }),
      refused,
    );
    const deleting = [file('.wh.x'), hardLink('y', 'x')];
    await assert.rejects(unpackEntries(unpacker, scratch, deleting, { name: 'u2', parentDirectories: one }), refused);
    await assert.rejects(unpackEntries(unpacker, scratch, [hardLink('y', 'x')], { name: 'u3' }), refused);
    const hiding = [file('.wh..wh..opq'), hardLink('y', 'x')];
    await assert.rejects(unpackEntries(unpacker, scratch, hiding, { name: 'u4', parentDirectories: one }), refused);
    assert.equal(existsSync(scratch.at('u3/y')), false);
    await unpackEntries(unpacker, scratch, [file('d/x', '1')], { name: 'low' });
    const opaque = [scratch.at('opaque'), scratch.at('low')];
    const opaqueEntries = [file('d/.wh..wh..opq')];
    await unpackEntries(unpacker, scratch, opaqueEntries, { name: 'opaque', parentDirectories: opaque.slice(1) });
    await assert.rejects(
      unpackEntries(unpacker, scratch, [hardLink('y', 'd/x')], { name: 'u5', parentDirectories: opaque }),
      { code: 'invalid_argument', message: /hard link to "d\/x", which does not exist/ },
    );
  });
});

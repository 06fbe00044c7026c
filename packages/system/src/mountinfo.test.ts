import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountsBelow, parseMountinfo, parseMountsBelow } from './mountinfo.ts';

const parse = (text: string) => parseMountinfo(Buffer.from(text));

test('a line is read with and without propagation fields', () => {
  const [shared, plain] = parse(
    [
      '36 35 98:0 /mnt1 /mnt/parent rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue',
      '37 35 0:5 / /proc rw - proc proc rw',
    ].join('\n'),
  );
  assert.deepEqual(shared, {
    id: 36,
    parentId: 35,
    root: '/mnt1',
    mountPoint: '/mnt/parent',
    options: ['rw', 'noatime'],
    propagation: ['shared:1', 'master:2'],
    type: 'ext3',
    source: '/dev/root',
    superOptions: ['rw', 'errors=continue'],
  });
  assert.deepEqual(plain?.propagation, []);
});

test('octal escapes are decoded to the bytes of UTF-8 names', () => {
  const [entry] = parse('1 2 0:1 / /a\\040b\\011c\\012d\\134e\\303\\274ü rw - tmpfs none rw');
  assert.equal(entry?.mountPoint, '/a b\tc\nd\\eüü');
});

test('lines that do not describe mounts are skipped', () => {
  assert.deepEqual(parse('\n1 2 3\n36 35 98:0 / /mnt rw shared:1\n'), []);
});

test('mounts under a path include the mount at the path, but not siblings with the same prefix', () => {
  const line = (path: string) => `1 2 0:1 / ${path} rw - tmpfs none rw`;
  const mounts = parse(['/', '/run', '/run/a', '/run/a/b', '/run/ab'].map(line).join('\n'));
  const below = (path: string) => mountsBelow(path, mounts).map(({ mountPoint }) => mountPoint);
  assert.deepEqual(below('/run/a'), ['/run/a', '/run/a/b']);
  assert.equal(below('/').length, 5);
  const twice = parse(['/a', '/a/b', '/a/b', '/a/with\\040space'].map(line).join('\n'));
  assert.deepEqual(
    mountsBelow('/a', twice).map(({ mountPoint }) => mountPoint),
    ['/a', '/a/b', '/a/b', '/a/with space'],
    'one entry per mount',
  );
});

test('parsing only the lines for one path yields the same mounts as parsing the whole table', () => {
  const paths = ['/', '/run', '/run/a', '/run/a/b', '/run/ab', '/other/a', '/with\\040space', '/with\\040space/in'];
  const table = Buffer.from(paths.map((path) => `1 2 0:1 / ${path} rw - tmpfs none rw`).join('\n'));
  for (const path of ['/', '/run', '/run/a', '/with space', '/nowhere'])
    assert.deepEqual(parseMountsBelow(path, table), mountsBelow(path, parseMountinfo(table)), path);
});

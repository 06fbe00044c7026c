import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { hasErrno } from '../../packages/system/src/errno.ts';
import { mountsBelow, unmountEntries, unmountTree, unmountUnder } from '../../packages/system/src/mountinfo.ts';
import { mountAll, mountAllAsync } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';

const system = loadSystem();
let scratch: string;
let target: string;

beforeEach(() => {
  scratch = mkdtempSync('/var/tmp/podwright-sys-');
  target = join(scratch, 'target');
  mkdirSync(target);
});
afterEach(() => {
  unmountTree(system, scratch);
  rmSync(scratch, { recursive: true });
});

test('a tmpfs takes flags and options', () => {
  mountAll(
    system,
    [{ type: 'tmpfs', source: 'shm', options: ['nosuid', 'nodev', 'noexec', 'mode=1770', 'size=65536k'] }],
    target,
  );
  const [mount] = mountsBelow(target);
  assert.deepEqual([mount!.type, mount!.source], ['tmpfs', 'shm']);
  for (const option of ['nosuid', 'nodev', 'noexec']) assert.ok(mount!.options.includes(option), option);
  assert.ok(mount!.superOptions.includes('size=65536k'));
  assert.equal(lstatSync(target).mode & 0o7777, 0o1770);
});

test('a bind mount is read-only if requested, but its source is not', () => {
  const source = join(scratch, 'a directory with spaces');
  mkdirSync(source);
  mountAll(system, [{ type: 'bind', source, options: ['rbind', 'ro', 'nosuid', 'rprivate'] }], target);
  assert.throws(() => writeFileSync(join(target, 'x'), ''), { code: 'EROFS' });
  writeFileSync(join(source, 'x'), 'seen');
  assert.equal(readFileSync(join(target, 'x'), 'utf8'), 'seen');
  assert.deepEqual(mountsBelow(target)[0]!.propagation, []);
});

/** Returns the mount for an overlay of directories in `scratch`; creates the directories named in `made`. */
function overlay(...made: string[]) {
  for (const name of made) mkdirSync(join(scratch, name));
  const directories = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(scratch, name)}`);
  return [{ type: 'overlay', source: 'overlay', options: directories }];
}

test('an overlay is mounted by another thread if requested', async () => {
  const elsewhere = Object.assign(loadSystem(), { mount: () => assert.fail('mounted by this thread') });
  await mountAllAsync(elsewhere, overlay('lower', 'upper', 'work'), target);
  writeFileSync(join(target, 'x'), 'written');
  assert.equal(readFileSync(join(scratch, 'upper/x'), 'utf8'), 'written');
});

test('an overlay that another thread cannot mount fails with the reason, and is not mounted', async () => {
  const failure = mountAllAsync(system, overlay('upper', 'work'), target);
  await assert.rejects(failure, (error) => hasErrno(error, 'ENOENT'));
  assert.deepEqual(mountsBelow(target), []);
});

test('mounts are stacked, and none are left if one fails', () => {
  const tmpfs = { type: 'tmpfs', source: 'one', options: [] };
  assert.throws(
    () => mountAll(system, [tmpfs, { type: 'no-such-type', source: 'x', options: [] }], target),
    /mount .*target/,
  );
  assert.deepEqual(mountsBelow(target), []);
  assert.throws(
    () => mountAll(system, [{ type: 'bind', source: join(scratch, 'absent'), options: ['bind'] }], target),
    {
      code: 'not_found',
    },
  );
});

test('a mount tree is unmounted, busy or not, with all kinds of names', () => {
  const names = ['plain', 'with space', 'tab\tand\\backslash', 'ümläut', 'line\nbreak'];
  mountAll(system, [{ type: 'tmpfs', source: 'outer', options: [] }], target);
  for (const name of names) {
    mkdirSync(join(target, name));
    mountAll(system, [{ type: 'tmpfs', source: 'inner', options: [] }], join(target, name));
  }
  assert.deepEqual(
    mountsBelow(target).map(({ mountPoint }) => mountPoint),
    [target, ...names.map((name) => join(target, name))],
  );
  const open = openSync(join(target, 'plain'), 'r');
  unmountTree(system, target);
  closeSync(open);
  assert.deepEqual(mountsBelow(target), []);
  assert.deepEqual(readdirSync(target), []);
  unmountTree(system, target); // unmounting again is not an error
});

test('mounts on directory entries are unmounted, including stacked and nested mounts; links remain', () => {
  const directory = join(target, 'entries');
  const file = join(directory, 'file');
  mkdirSync(join(directory, 'twice'), { recursive: true });
  mkdirSync(join(directory, 'outer'));
  writeFileSync(file, 'kept');
  const tmpfs = { type: 'tmpfs', source: 'x', options: [] };
  mountAll(system, [tmpfs, tmpfs], join(directory, 'twice'));
  mountAll(system, [tmpfs], join(directory, 'outer'));
  mkdirSync(join(directory, 'outer', 'inner'));
  mountAll(system, [tmpfs], join(directory, 'outer', 'inner'));
  symlinkSync('/proc', join(directory, 'link'));
  unmountEntries(system, directory);
  assert.deepEqual(mountsBelow(directory), []);
  assert.deepEqual(readdirSync(directory).sort(), ['file', 'link', 'outer', 'twice']);
  assert.ok(existsSync('/proc/self'));
  rmSync(directory, { recursive: true });
  unmountEntries(system, directory); // unmounting again is not an error
});

test('links are not followed when unmounting', () => {
  mountAll(system, [{ type: 'tmpfs', source: 'x', options: [] }], target);
  symlinkSync(target, join(scratch, 'link'));
  assert.throws(
    () => system.unmount(join(scratch, 'link')),
    (error) => hasErrno(error, 'EINVAL'),
  );
  assert.equal(mountsBelow(target).length, 1);
});

test('too many options are an error with the reason', () => {
  const lower = Array.from({ length: 2000 }, (_, index) => `${scratch}/${index}`).join(':');
  const refused = { code: 'invalid_argument', message: /the kernel accepts 4095; the image has too many layers/ };
  for (const [type, option] of [
    ['overlay', `lowerdir=${lower}`],
    ['tmpfs', 'x'.repeat(5000)],
  ] as const) {
    assert.throws(() => mountAll(system, [{ type, source: 'x', options: [option] }], target), refused);
  }
});

test('extended attributes are binary safe, and a missing one is not an error', () => {
  const path = join(target, 'file');
  writeFileSync(path, '');
  const value = Buffer.from([0, 10, 61, 255, 0]);
  system.setXattr(path, 'user.binary', value);
  system.setXattr(path, 'user.empty', Buffer.alloc(0));
  assert.deepEqual(system.getXattr(path, 'user.binary'), value);
  assert.deepEqual(system.getXattr(path, 'user.empty'), Buffer.alloc(0));
  assert.equal(system.getXattr(path, 'user.absent'), undefined);
  assert.deepEqual(system.listXattrs(path).sort(), ['user.binary', 'user.empty']);
  system.removeXattr(path, 'user.binary');
  assert.deepEqual(system.listXattrs(path), ['user.empty']);
  assert.throws(() => system.removeXattr(path, 'user.binary'), {
    code: 'not_found',
    message: /lremovexattr .*file: no data available/i,
  });
});

test('devices and pipes are created, including names that are not valid UTF-8', () => {
  const path = Buffer.concat([Buffer.from(join(target, 'x')), Buffer.from([0xff])]);
  system.makeDevice(path, { type: 'block', major: 259, minor: 70000 }, 0o600);
  const stat = lstatSync(path);
  assert.ok(stat.isBlockDevice());
  assert.equal(stat.rdev, Number((259n << 8n) | (70000n & 0xffn) | ((70000n & 0xfff00n) << 12n)));
  system.makeFifo(join(target, 'pipe'), 0o600);
  assert.ok(lstatSync(join(target, 'pipe')).isFIFO());
  assert.throws(() => system.makeFifo(join(target, 'pipe'), 0o600), { code: 'already_exists' });
  assert.throws(() => system.makeFifo('a\0b', 0o600), { code: 'invalid_argument' });
  const device = { type: 'char', major: 4096, minor: 0 } as const;
  assert.throws(() => system.makeDevice(join(target, 'y'), device, 0o600), { code: 'invalid_argument' });
});

test('a lock is held by one open file, and released when that is closed', () => {
  const path = join(target, 'lock');
  const first = openSync(path, 'w');
  const second = openSync(path, 'w');
  assert.equal(system.tryLock(first), true);
  assert.equal(system.tryLock(second), false);
  closeSync(first);
  assert.equal(system.tryLock(second), true);
  closeSync(second);
});

test('the data extents of a sparse file are found', () => {
  const descriptor = openSync(join(target, 'sparse'), 'w+');
  writeSync(descriptor, 'x', 1 << 20);
  ftruncateSync(descriptor, 8 << 20);
  const part = system.nextData(descriptor, 0)!;
  assert.ok(part.start > 0 && part.start <= 1 << 20 && part.end > 1 << 20 && part.end < 8 << 20);
  assert.equal(system.nextData(descriptor, part.end), undefined);
  closeSync(descriptor);
});

test('a file system mounted at a directory itself stays when what is mounted under it is removed', () => {
  const inner = join(target, 'inner');
  mountAll(system, [{ type: 'tmpfs', source: 'outer', options: [] }], target);
  mkdirSync(inner);
  mountAll(system, [{ type: 'tmpfs', source: 'inner', options: [] }], inner);
  unmountUnder(system, target);
  assert.deepEqual(
    mountsBelow(target).map(({ mountPoint }) => mountPoint),
    [target],
  );
});

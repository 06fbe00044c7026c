import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { found, makeOddTree } from '../../host/src/files/odd-names.fixture.ts';
import { inPieces, packTree } from './pack.ts';

function directories(t: TestContext) {
  const top = mkdtempSync('/tmp/copy-pack-');
  t.after(() => rmSync(top, { recursive: true }));
  const [from, to] = [join(top, 'from'), join(top, 'to')];
  mkdirSync(from);
  mkdirSync(to);
  return { from, to };
}

const whole = (archive: Iterable<Buffer>) => Buffer.concat([...archive]);

/** tar implementations found in containers. */
const READERS = [['tar'], ['busybox', 'tar']];

test('GNU tar and busybox unpack an archive to the same tree', (t) => {
  const { from, to } = directories(t);
  const long = join(from, 'd'.repeat(120), 'e'.repeat(120));
  mkdirSync(long, { recursive: true });
  writeFileSync(join(long, 'f'.repeat(200)), 'deep');
  writeFileSync(join(from, 'empty'), '');
  writeFileSync(join(from, 'blocks'), Buffer.alloc(1024, 7));
  writeFileSync(join(from, 'näme\x1b'), 'odd');
  writeFileSync(join(from, 'program'), '#!/bin/sh\n');
  chmodSync(join(from, 'program'), 0o751);
  symlinkSync('t'.repeat(150), join(from, 'link'));
  execFileSync('mkfifo', [join(from, 'pipe')]);
  const skipped: string[] = [];
  const archive = whole(packTree({ path: from, name: 'copy', onSkipped: (message) => skipped.push(message) }));
  assert.deepEqual(skipped, [`${join(from, 'pipe')} is not a regular file: skipped`]);
  rmSync(join(from, 'pipe'));
  for (const [index, [program, ...args]] of READERS.entries()) {
    const into = join(to, String(index));
    mkdirSync(into);
    execFileSync(program!, [...args, '-xmf', '-', '-C', into], { input: archive });
    execFileSync('diff', ['-r', '--no-dereference', from, join(into, 'copy')]);
    assert.equal(statSync(join(into, 'copy/program')).mode & 0o7777, 0o751);
    assert.equal(readlinkSync(join(into, 'copy/link')), 't'.repeat(150));
  }
});

test('non-UTF-8 names are preserved', (t) => {
  const { from, to } = directories(t);
  makeOddTree(join(from, 'odd'));
  const archive = whole(packTree({ path: from, name: 'copy', onSkipped: assert.fail }));
  for (const [index, [program, ...args]] of READERS.entries()) {
    const into = join(to, String(index));
    mkdirSync(into);
    execFileSync(program!, [...args, '-xmf', '-', '-C', into], { input: archive });
    assert.deepEqual(found(join(into, 'copy'), '%y %m %s %l %p'), found(from, '%y %m %s %l %p'));
  }
});

test('an archive of many small files is sent in few chunks', (t) => {
  const { from } = directories(t);
  for (let file = 0; file < 1000; file++) writeFileSync(join(from, String(file)), String(file));
  writeFileSync(join(from, 'large'), Buffer.alloc(1 << 20, 1));
  const parts = [...packTree({ path: from, name: 'copy', onSkipped: assert.fail })];
  const pieces = [...inPieces(parts)];
  assert.ok(parts.length > 3000 && pieces.length < 20, `${parts.length} parts in ${pieces.length} pieces`);
  assert.ok(pieces.every(({ length }) => length <= 256 << 10));
  assert.ok(Buffer.concat(pieces).equals(Buffer.concat(parts)));
});

test('a single file gets the given name, even if the path is a symlink', (t) => {
  const { from, to } = directories(t);
  writeFileSync(join(from, 'file'), 'text');
  symlinkSync('file', join(from, 'link'));
  const archive = whole(packTree({ path: join(from, 'link'), name: 'other', onSkipped: assert.fail }));
  execFileSync('tar', ['-xf', '-', '-C', to], { input: archive });
  assert.equal(readFileSync(join(to, 'other'), 'utf8'), 'text');
});

test('a file truncated while being read is an error', (t) => {
  const { from } = directories(t);
  const path = join(from, 'log');
  writeFileSync(path, Buffer.alloc(1 << 20));
  const archive = packTree({ path, name: 'log', onSkipped: assert.fail });
  archive.next();
  writeFileSync(path, 'short');
  assert.throws(() => whole(archive), { code: 'aborted', message: /became shorter/ });
});

test('a directory replaced by a symlink while being read is not followed', (t) => {
  const { from, to } = directories(t);
  writeFileSync(join(to, 'secret'), 'of another');
  mkdirSync(join(from, 'inner'));
  writeFileSync(join(from, 'inner/own'), 'text');
  for (const headers of [1, 2]) {
    const archive = packTree({ path: from, name: 'copy', onSkipped: assert.fail });
    const started = [];
    for (let taken = 0; taken < headers; taken++) started.push(archive.next().value);
    // another process moves a packed directory away and replaces it with a symlink, while the archive is being read slowly
    renameSync(join(from, 'inner'), join(to, 'moved'));
    symlinkSync(to, join(from, 'inner'));
    const rest = whole(archive);
    assert.ok(!rest.includes('of another'), `after ${headers} headers`);
    assert.equal(rest.includes('text'), headers === 2);
    rmSync(join(from, 'inner'));
    renameSync(join(to, 'moved'), join(from, 'inner'));
  }
});

test('a source that is neither a file nor a directory is refused', () => {
  const archive = packTree({ path: '/dev/null', name: 'null', onSkipped: assert.fail });
  assert.throws(() => whole(archive), { code: 'failed_precondition', message: 'not a regular file or directory' });
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ARCHIVE_END, tarHeader, tarPadding } from '@podwright/images/tar';
import { findArchive, unpackProgram, verifyArchive } from './release-archive.ts';

const NAME = `podwright-1.2.3-linux-${process.arch}.tar.zst`;

function scratch(context: TestContext): { directory: string; at: (name: string) => string } {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-release-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return { directory, at: (name) => join(directory, name) };
}

function tarOf(files: [name: string, mode: number, text: string][]): Buffer {
  const entries = files.flatMap(([name, mode, text]) => {
    const content = Buffer.from(text);
    const header = tarHeader({ type: 'file', name, mode, size: content.length });
    return [header, content, tarPadding(content.length)];
  });
  return Buffer.concat([...entries, ARCHIVE_END]);
}

test('an archive for this machine is found by its path or its directory', (context) => {
  const { directory, at } = scratch(context);
  writeFileSync(at(NAME), '');
  writeFileSync(at('podwright-1.2.3-linux-mips.tar.zst'), '');
  const expected = { path: at(NAME), version: '1.2.3' };
  assert.deepEqual(findArchive(at(NAME)), expected);
  assert.deepEqual(findArchive(directory), expected);
  assert.throws(() => findArchive(at('podwright-1.2.3-linux-mips.tar.zst')), {
    message: /is for mips, and this machine/,
  });
  const gzipped = at(NAME.replace('.zst', '.gz'));
  writeFileSync(gzipped, '');
  assert.deepEqual(findArchive(directory), expected);
  assert.deepEqual(findArchive(gzipped), { path: gzipped, version: '1.2.3' });
  writeFileSync(at(NAME.replace('1.2.3', '1.2.4-rc.1')), '');
  assert.throws(() => findArchive(directory), { message: /has several files/ });
});

test('a device or pipe with the name of an archive is rejected', (context) => {
  const { directory, at } = scratch(context);
  execFileSync('mkfifo', [at(NAME)]);
  for (const path of [directory, at(NAME), '/dev/zero'])
    assert.throws(() => findArchive(path), { message: /is neither a file nor a directory/ });
});

test('an archive is valid only with the digest for its name in SHA256SUMS', async (context) => {
  const { at } = scratch(context);
  writeFileSync(at(NAME), 'content');
  const archive = findArchive(at(NAME));
  await assert.rejects(verifyArchive(archive), { message: /^read the checksums / });
  const digest = createHash('sha256').update('content').digest('hex');
  const other = '0'.repeat(64);
  for (const [sums, code] of [
    [`${other}  other\n${digest}  ${NAME}\n`, undefined],
    [`${digest} *${NAME}`, undefined],
    [`${digest}  other\n`, 'invalid_argument'],
    [`${other}  ${NAME}\n`, 'data_loss'],
  ] as const) {
    writeFileSync(at('SHA256SUMS'), sums);
    if (code === undefined) await verifyArchive(archive);
    else await assert.rejects(verifyArchive(archive), { code });
  }
});

test('the archive’s podwright executable is unpacked, and no other file with that name', async (context) => {
  const { at } = scratch(context);
  const archive = { path: at(NAME), version: '1.2.3' };
  const completions = ['podwright-1.2.3/completions/podwright', 0o644, 'complete'] as [string, number, string];
  writeFileSync(archive.path, zstdCompressSync(tarOf([completions, ['podwright-1.2.3/podwright', 0o755, 'program']])));
  await unpackProgram(archive, at('program'));
  assert.equal(readFileSync(at('program'), 'utf8'), 'program');
  assert.equal(statSync(at('program')).mode & 0o777, 0o755);
  const gzipped = { path: at(NAME.replace('.zst', '.gz')), version: '1.2.3' };
  writeFileSync(gzipped.path, gzipSync(tarOf([completions, ['podwright-1.2.3/podwright', 0o755, 'gzipped']])));
  await unpackProgram(gzipped, at('gzipped'));
  assert.equal(readFileSync(at('gzipped'), 'utf8'), 'gzipped');
  writeFileSync(archive.path, zstdCompressSync(tarOf([completions])));
  await assert.rejects(unpackProgram(archive, at('none')), { message: /contains no file podwright/ });
  writeFileSync(archive.path, 'no archive');
  await assert.rejects(unpackProgram(archive, at('none')));
});

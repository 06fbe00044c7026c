import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { readTar } from '@podwright/images/tar';
import { type FixtureEntry, tarArchive } from '../../images/src/unpack/tar-writer.fixture.ts';
import { unpackInto } from './unpack.ts';

const top = mkdtempSync('/tmp/copy-unpack-');
after(() => rmSync(top, { recursive: true }));
let round = 0;
/** A new directory for each test, containing the destination `inside` and a file `secret` next to it. */
let scratch = '';
beforeEach(() => {
  scratch = join(top, String(round++));
  mkdirSync(join(scratch, 'inside'), { recursive: true });
  writeFileSync(join(scratch, 'secret'), 'untouched');
});

/** Unpacks an archive as the response to a request for `./data`. Returns the messages about skipped entries. */
async function unpack(entries: FixtureEntry[], destination = join(scratch, 'inside')): Promise<string[]> {
  const skipped: string[] = [];
  const chunks = (async function* () {
    yield tarArchive(entries);
  })();
  const options = { base: 'data', destination, onSkipped: (message: string) => skipped.push(message) };
  await unpackInto(readTar(chunks), options);
  return skipped;
}

const inside = (...names: string[]) => join(scratch, 'inside', ...names);
const directory = { name: './data/', flag: '5', mode: 0o755 };

test('a directory’s contents are copied into the destination, with modes but without set-user-ID bits', async () => {
  await unpack([
    directory,
    { name: './data/run', body: '#!', mode: 0o4755 },
    { name: './data/deep/er/', flag: '5', mode: 0o2500 },
    { name: './data/deep/er/file', body: 'text' },
    { name: './data/same', flag: '1', link: './data/run' },
  ]);
  assert.equal(lstatSync(inside('run')).mode & 0o7777, 0o755);
  assert.equal(lstatSync(inside('deep/er')).mode & 0o7777, 0o700);
  assert.equal(readFileSync(inside('deep/er/file'), 'utf8'), 'text');
  assert.equal(readFileSync(inside('same'), 'utf8'), '#!');
});

test('a file is copied to the destination, or into an existing or new directory', async () => {
  const file = [{ name: './data', body: 'one' }];
  await unpack(file);
  await unpack(file, inside('other'));
  await unpack(file, inside('new/place/other'));
  for (const path of ['data', 'other', 'new/place/other']) assert.equal(readFileSync(inside(path), 'utf8'), 'one');
});

test('names of arbitrary bytes are preserved', async () => {
  const name = Buffer.from([0xff, 0xfe, 0x1b]);
  await unpack([directory, { name: Buffer.concat([Buffer.from('./data/'), name]), body: 'x' }]);
  assert.deepEqual(readdirSync(Buffer.from(inside()), { encoding: 'buffer' }), [name]);
});

test('names outside the destination or the request are errors', async () => {
  for (const name of [
    '../secret',
    './data/../../secret',
    '/etc/passwd',
    './data/x/../../../secret',
    'other',
    '.',
    '..',
    './data/..',
  ]) {
    const message = /the container sent .*, which was not requested/;
    await assert.rejects(unpack([directory, { name, body: 'evil' }]), { code: 'invalid_argument', message }, name);
    await assert.rejects(unpack([{ name, body: 'evil' }]), { code: 'invalid_argument' }, name);
    const link = { name: './data/link', flag: '1', link: name };
    await assert.rejects(unpack([directory, link]), { code: 'invalid_argument' }, `link to ${name}`);
  }
  await assert.rejects(
    unpack([
      { name: './data', body: 'a' },
      { name: './data', body: 'b' },
    ]),
    { code: 'invalid_argument' },
  );
  await assert.rejects(
    unpack([
      { name: './data', body: 'a' },
      { name: './data/x', body: 'b' },
    ]),
    { code: 'invalid_argument' },
  );
  assert.equal(readFileSync(join(scratch, 'secret'), 'utf8'), 'untouched');
});

test('links in the archive are not created, and links in the destination not followed', async () => {
  symlinkSync(scratch, inside('here'));
  symlinkSync(join(scratch, 'secret'), inside('file'));
  const skipped = await unpack([
    directory,
    { name: './data/out', flag: '2', link: '/etc' },
    { name: './data/pipe', flag: '6' },
    { name: './data/disk', flag: '4', device: [8, 0] },
    { name: './data/null', flag: '3', device: [1, 3] },
    { name: './data/file', body: 'replaces the link' },
  ]);
  assert.equal(skipped.length, 4);
  assert.match(skipped[0]!, /^out is a symbolic link to \/etc: skipped$/);
  assert.deepEqual(readdirSync(inside()).sort(), ['file', 'here']);
  assert.equal(readFileSync(inside('file'), 'utf8'), 'replaces the link');
  const through = { name: './data/here/secret', body: 'evil' };
  await assert.rejects(unpack([directory, through]), { code: 'failed_precondition', message: /a non-directory here/ });
  const made = { name: './data/here/new/', flag: '5' };
  await assert.rejects(unpack([directory, made]), { code: 'failed_precondition' });
  await assert.rejects(unpack([directory, { name: './data/x', flag: '1', link: './data/here/secret' }]), {
    code: 'failed_precondition',
  });
  await assert.rejects(unpack([directory, { name: './data/x', flag: '1', link: './data/here' }]), /was not copied/);
  assert.deepEqual(readdirSync(scratch).sort(), ['inside', 'secret']);
  assert.equal(readFileSync(join(scratch, 'secret'), 'utf8'), 'untouched');
});

test('requesting a link or device is an error that names its type', async () => {
  await assert.rejects(unpack([{ name: './data', flag: '2', link: '/x' }]), /it is a symbolic link to \/x/);
  await assert.rejects(unpack([{ name: './data', flag: '6' }]), /it is a FIFO/);
});

test('a file that does not fit on the disk is not created', async () => {
  const huge = { name: './data/huge', body: '', pax: { size: String(2 ** 52) } };
  await assert.rejects(unpack([directory, huge]), {
    code: 'resource_exhausted',
    message: /huge has 4503599627370496 bytes/,
  });
  assert.deepEqual(readdirSync(inside()), []);
});

test('an empty, truncated or invalid archive is an error', async () => {
  await assert.rejects(unpack([]), { code: 'data_loss' });
  await assert.rejects(unpack([directory, { name: './data/cut', size: 5000, body: 'short' }]), { code: 'data_loss' });
  const sparse = { name: './data/s', pax: { 'GNU.sparse.size': '9', 'GNU.sparse.map': '0,0' } };
  await assert.rejects(unpack([directory, sparse]), { code: 'invalid_argument' });
});

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { seededRandom } from '../../../base/src/fuzz.fixture.ts';
import { type LogQuery, readLog } from './log-reader.ts';
import { nextRotated, rotatedLogs } from './rotated-logs.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podwright-rotated-'));
after(() => rmSync(scratch, { recursive: true }));

const at = (second: number) => `2026-11-21T00:00:${String(second).padStart(2, '0')}.000000000Z`;
const rotatedName = (number: number) => `.20261121-0000${String(number).padStart(2, '0')}`;

/**
 * Creates a log that consists of the given files, the last being the current one; `compressed` selects the ones to compress. Returns its
 * path.
 */
function logOf(files: string[], compressed: (index: number) => boolean = () => false): string {
  const path = join(mkdtempSync(join(scratch, 'log-')), '0.log');
  for (const [index, text] of files.slice(0, -1).entries()) {
    writeFileSync(path + rotatedName(index), text);
    if (compressed(index)) compress(path + rotatedName(index));
  }
  writeFileSync(path, files.at(-1)!);
  return path;
}

function compress(path: string): void {
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)));
  rmSync(path);
}

async function read(path: string, query: LogQuery): Promise<string> {
  const until = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  const pieces: Buffer[] = [];
  for await (const piece of readLog(path, query, until)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const check = async (path: string, query: LogQuery, expected: string) =>
  assert.equal(await read(path, query), expected, JSON.stringify(query));

const line = (second: number, text: string, tag = 'F') => `${at(second)} stdout ${tag} ${text}\n`;

test('a log is read including its rotated files, compressed or not', async () => {
  const files = [line(1, 'one'), line(2, 'two'), line(3, 'three'), ''];
  const path = logOf(files, (index) => index < 2);
  writeFileSync(`${path}.tmp`, line(9, 'not a part of the log'));
  writeFileSync(`${path}${rotatedName(1)}`, line(2, 'two')); // the compressed file is complete, but this one is not removed yet
  await check(path, {}, 'one\ntwo\nthree\n');
  await check(path, { tailLines: 1 }, 'three\n');
  await check(path, { tailLines: 2 }, 'two\nthree\n');
  await check(path, { tailLines: 9 }, 'one\ntwo\nthree\n');
  await check(path, { tailLines: 0 }, '');
  await check(path, { limitBytes: 5 }, 'one\nt');
  await check(path, { sinceMs: Date.parse(at(3)) }, 'three\n');
  rmSync(path); // it was renamed, but the runtime has not opened the next file yet
  await check(path, {}, 'one\ntwo\nthree\n');
  await check(path, { tailLines: 1 }, 'three\n');
  await check(path, { follow: true, tailLines: 2 }, 'two\nthree\n');
});

test('tailLines matches the end of the whole log, wherever it was rotated', async () => {
  const random = seededRandom(20261129);
  for (let round = 0; round < 40; round++) {
    const texts = Array.from({ length: random(30) }, () => 'x'.repeat(random(5) === 0 ? random(70_000) : random(50)));
    const entries = texts.map((text, index) => line(index, `${index}${text}`, random(3) === 0 ? 'P' : 'F'));
    const files = [''];
    for (const entry of entries) {
      if (random(4) === 0) files.push('');
      files[files.length - 1] += entry;
    }
    const [whole, parts] = [logOf([entries.join('')]), logOf(files, () => random(2) === 0)];
    for (const query of [{}, { tailLines: random(12) }, { tailLines: random(3) }, { sinceMs: Date.parse(at(15)) }])
      await check(parts, query, await read(whole, query));
    await check(parts, { tailLines: 5, follow: true }, await read(whole, { tailLines: 5 }));
  }
});

/**
 * Follows a log and returns its text. Runs the next of `steps` after each chunk of text, and lets the container exit after the last one.
 */
async function follow(path: string, steps: (() => void)[]): Promise<string> {
  const ended = new AbortController();
  let text = '';
  for await (const piece of readLog(
    path,
    { follow: true },
    { ended: ended.signal, signal: AbortSignal.timeout(10_000) },
  )) {
    text += piece;
    steps.shift()?.();
    if (steps.length === 0) ended.abort();
  }
  return text;
}

function rotate(path: string, number: number, text: string): void {
  renameSync(path, path + rotatedName(number));
  writeFileSync(path, text);
}

test('a slow follower reads everything that still exists across several rotations', async () => {
  const path = logOf([line(1, 'one')]);
  const text = await follow(path, [
    () => {
      appendFileSync(path, line(2, 'two'));
      rotate(path, 10, line(3, 'thr', 'P'));
      compress(path + rotatedName(10)); // the one that is being read
      rotate(path, 11, line(4, 'ee'));
      rotate(path, 12, line(5, 'five'));
      compress(path + rotatedName(11));
    },
    () => undefined,
    () => undefined,
    () => undefined,
    () => {
      rotate(path, 13, '');
      rotate(path, 14, line(6, 'six'));
    },
    () => undefined,
  ]);
  assert.equal(text, 'one\ntwo\nthree\nfive\nsix\n');
});

test('a line whose remainder was removed unread is not joined with another line', async () => {
  const path = logOf([line(1, 'half', 'P')]);
  const text = await follow(path, [
    () => {
      rotate(path, 10, line(2, 'other half'));
      rotate(path, 11, line(3, 'three'));
      rmSync(path + rotatedName(10));
      rmSync(path + rotatedName(11));
      rotate(path, 12, line(4, 'four', 'P'));
    },
    () => undefined,
    () => undefined,
    () => undefined,
  ]);
  assert.equal(text, 'half\nthree\nfour');
});

test('a truncated entry is a separate line', async () => {
  const path = logOf([line(1, 'one') + line(2, 'cut').slice(0, -2), line(3, 'three')]);
  await check(path, {}, 'one\ncu\nthree\n');
});

test('each rotated file is named to sort after the existing ones, but not ahead of the clock', async () => {
  const path = logOf(['']);
  const name = async (time: string) => {
    const rotated = nextRotated(path, (await rotatedLogs(path)).at(-1)?.order ?? '', new Date(time));
    writeFileSync(rotated.path, '');
    assert.equal((await rotatedLogs(path)).at(-1)!.order, rotated.order);
    return rotated.path.slice(path.length);
  };
  assert.equal(await name('2026-11-21T00:00:00.100Z'), '.20261121-000000');
  for (let number = 1; number < 12; number++)
    assert.equal(await name('2026-11-21T00:00:00.900Z'), `.20261121-000000.${number}`);
  compress(`${path}.20261121-000000`);
  compress(`${path}.20261121-000000.3`);
  assert.equal(await name('2026-11-21T00:00:01.000Z'), '.20261121-000001');
  assert.equal(await name('2026-11-20T00:00:00.000Z'), '.20261121-000001.1'); // the clock was set back
  const names = (await rotatedLogs(path)).map((file) => file.path.slice(path.length + '.20261121-'.length));
  const numbers = [1, 2, '3.gz', 4, 5, 6, 7, 8, 9, 10, 11].map((number) => `000000.${number}`);
  assert.deepEqual(names, ['000000.gz', ...numbers, '000001', '000001.1']);
  assert.equal(readdirSync(join(path, '..')).length, names.length + 1);
});

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@podwright/base';
import { seededRandom } from '../../../base/src/fuzz.fixture.ts';
import { parseLogLine } from './cri-log.ts';
import { LOG_SAFETY_INTERVAL_MS } from './file-changes.ts';
import { type LogQuery, readLog } from './log-reader.ts';
import { findTail } from './log-tail.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-logs-'));
after(() => rmSync(directory, { recursive: true }));
const at = (second: number) => `2026-11-21T00:00:0${second}.000000000Z`;

const check = (lines: string[], query: LogQuery, expected: string) =>
  checkText(lines.map((line) => `${line}\n`).join(''), query, expected);

async function checkText(log: string, query: LogQuery, expected: string) {
  const path = join(directory, `${Math.random()}.log`);
  writeFileSync(path, log);
  const until = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  const chunks: Buffer[] = [];
  for await (const chunk of readLog(path, query, until)) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), expected);
}

const three = [`${at(1)} stdout F one`, `${at(2)} stderr F two`, `${at(3)} stdout F three`];

test('a log is returned without timestamps and tags', () => check(three, {}, 'one\ntwo\nthree\n'));
test('tailLines selects the last lines', () => check(three, { tailLines: 2 }, 'two\nthree\n'));
test('tailLines larger than the log selects all lines', () => check(three, { tailLines: 9 }, 'one\ntwo\nthree\n'));
test('tailLines 0 selects nothing', () => check(three, { tailLines: 0 }, ''));
test('lines before sinceMs are skipped', () => check(three, { sinceMs: Date.parse(at(2)) }, 'two\nthree\n'));
test('timestamps can be shown', () => check(three.slice(0, 1), { timestamps: true }, `${at(1)} one\n`));
test('a line written in several chunks has only one timestamp, at its start', async () => {
  const pieces = [`${at(1)} stdout P a`, `${at(2)} stdout P b`, `${at(3)} stdout F c`, `${at(4)} stdout F d`];
  await check(pieces, { timestamps: true }, `${at(1)} abc\n${at(4)} d\n`);
  await check(pieces, { timestamps: true, sinceMs: Date.parse(at(2)) }, `${at(2)} bc\n${at(4)} d\n`);
});
test('limitBytes may truncate the output within a line', () => check(three, { limitBytes: 6 }, 'one\ntw'));
test('a line written in several chunks is one line, even at the tail', () =>
  check([`${at(1)} stdout F a`, `${at(2)} stdout P b`, `${at(2)} stdout F c`], { tailLines: 1 }, 'bc\n'));
test('invalid lines are skipped', () => check(['nonsense', three[0]!], {}, 'one\n'));
test('an entry is partial only if its first tag is P', () =>
  check(
    [
      `${at(1)} stdout P:x a`,
      `${at(1)} stdout F:P b`,
      `${at(1)} stdout Px c`,
      `${at(1)} stdout P`,
      `${at(1)} stderr F`,
    ],
    {},
    'ab\nc\n\n',
  ));
test('lines with an unknown stream or without tags are skipped', () =>
  check(
    [`${at(1)} stdouts F a`, `${at(1)} stdin F b`, `${at(1)} stdout`, ' stdout F c', `${at(1)} stderr F d`],
    {},
    'd\n',
  ));
test('a tail longer than a block is found', () => {
  const many = Array.from({ length: 5000 }, (_, index) => `${at(1)} stdout F line ${index}`);
  return check(
    many,
    { tailLines: 4000 },
    many
      .slice(1000)
      .map((_, index) => `line ${index + 1000}\n`)
      .join(''),
  );
});

test('an empty line has no text', () => {
  assert.equal(parseLogLine(Buffer.from(`${at(1)} stdout F `))?.text.length, 0);
});

test('following continues through growth and rotation and ends with the container', async () => {
  const path = join(directory, 'follow.log');
  writeFileSync(path, `${three[0]}\n`);
  const ended = new AbortController();
  const seen: string[] = [];
  for await (const chunk of readLog(
    path,
    { follow: true },
    { ended: ended.signal, signal: new AbortController().signal },
  )) {
    seen.push(chunk.toString());
    if (seen.length === 1) appendFileSync(path, `${three[1]}\n`);
    if (seen.length === 2) {
      renameSync(path, `${path}.1`);
      writeFileSync(path, `${three[2]}\n`);
    }
    if (seen.length === 3) ended.abort();
  }
  assert.deepEqual(seen, ['one\n', 'two\n', 'three\n']);
});

test('a log directory that could not be watched at first is watched later', async () => {
  const path = join(directory, 'later', 'follow.log');
  const ended = new AbortController();
  const lines = 8;
  let seen = 0;
  let beganAtMs = 0;
  setTimeout(() => {
    mkdirSync(join(directory, 'later'));
    writeFileSync(path, `${three[0]}\n`);
  }, 50);
  const until = { ended: ended.signal, signal: new AbortController().signal };
  for await (const _chunk of readLog(path, { follow: true }, until)) {
    beganAtMs ||= performance.now();
    if (++seen === lines) ended.abort();
    else appendFileSync(path, `${three[1]}\n`);
  }
  assert.equal(seen, lines);
  const tookMs = performance.now() - beganAtMs; // with the safety interval alone it would be a second for each line
  assert.ok(tookMs < (lines - 2) * LOG_SAFETY_INTERVAL_MS, `${tookMs} ms`);
});

test('a missing log is not_found once the container has exited', async () => {
  const until = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  await assert.rejects(readLog(join(directory, 'none.log'), {}, until).next(), { code: 'not_found' });
});

test('tailLines counts a line in any number of chunks as one', async () => {
  const pieces = Array.from({ length: 5000 }, () => `${at(2)} stdout P x`);
  const log = [`${at(1)} stdout F before`, ...pieces, `${at(2)} stdout F y`, `${at(3)} stdout P half`];
  await check(log, { tailLines: 1 }, 'half');
  await check(log, { tailLines: 2 }, `${'x'.repeat(5000)}y\nhalf`);
  await check(log, { tailLines: 3 }, `before\n${'x'.repeat(5000)}y\nhalf`);
  await check(['nonsense', ...log], { tailLines: 9 }, `before\n${'x'.repeat(5000)}y\nhalf`);
});

test('tailLines matches the end of the whole log, however lines are split into chunks', async () => {
  const random = seededRandom(20261122);
  for (let round = 0; round < 50; round++) {
    const texts = Array.from({ length: random(40) }, () => 'x'.repeat(random(3) === 0 ? random(70_000) : random(90)));
    const log = texts.map((text) => `${at(1)} stdout ${random(3) === 0 ? 'P' : 'F'} ${text}`);
    const lines = log
      .map((line) => line.slice(at(1).length + 8).slice(2) + (line.includes(' stdout F ') ? '\n' : ''))
      .join('')
      .split(/(?<=\n)/);
    const tail = random(12);
    if (lines.at(-1) === '') lines.pop(); // the log is empty, or ends after a whole line
    await check(log, { tailLines: tail }, tail === 0 ? '' : lines.slice(-tail).join(''));
  }
});

test('an endless line is not buffered in memory', async () => {
  const path = join(directory, 'endless.log');
  writeFileSync(path, `${at(1)} stdout P ${'x'.repeat(8 << 20)}`);
  appendFileSync(path, `\n${three[0]}\n`);
  const until = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  const chunks: Buffer[] = [];
  for await (const chunk of readLog(path, {}, until)) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), 'one\n');
});

test('a log that grows in chunks is read at most a hundred times a second, without leaking listeners', async () => {
  const path = join(directory, 'pieces.log');
  writeFileSync(path, '');
  const [ended, closed] = [new AbortController(), new AbortController()];
  const startedAtMs = performance.now();
  let pieces = 0;
  const writer = setInterval(() => {
    for (let more = 0; more < 5; more++, pieces++) appendFileSync(path, `${at(1)} stdout P x\n`);
    if (pieces >= 2000) {
      clearInterval(writer);
      ended.abort();
    }
  }, 1);
  let [chunks, textBytes, listeners] = [0, 0, 0];
  for await (const chunk of readLog(path, { follow: true }, { ended: ended.signal, signal: closed.signal })) {
    chunks++;
    textBytes += chunk.length;
    listeners = Math.max(listeners, getEventListeners(closed.signal, 'abort').length);
  }
  assert.equal(textBytes, 2000);
  assert.ok(listeners <= 3, `${listeners} listeners`);
  assert.ok(chunks <= (performance.now() - startedAtMs) / 5 + 5, `${chunks} readings`);
});

test('a symlink in place of a log is not followed', async () => {
  const secret = join(directory, 'secret');
  writeFileSync(secret, `${three[0]}\n`);
  const path = join(directory, 'link.log');
  symlinkSync(secret, path);
  const until = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  await assert.rejects(readLog(path, {}, until).next(), { code: 'not_found' });
});

test('a file that replaces a followed log is read only if it is a regular file', async () => {
  const path = join(directory, 'replaced.log');
  writeFileSync(path, `${three[0]}\n`);
  const secret = join(directory, 'other-secret');
  writeFileSync(secret, `${three[1]}\n`);
  const ended = new AbortController();
  const seen: string[] = [];
  const until = { ended: ended.signal, signal: new AbortController().signal };
  for await (const chunk of readLog(path, { follow: true }, until)) {
    seen.push(chunk.toString());
    if (seen.length === 1) {
      renameSync(path, `${path}.1`);
      symlinkSync(secret, path);
      appendFileSync(`${path}.1`, `${three[1]}\n`);
    }
    if (seen.length === 2) {
      rmSync(path);
      execFileSync('mkfifo', [path]);
      appendFileSync(`${path}.1`, `${three[0]}\n`);
    }
    if (seen.length === 3) {
      rmSync(path);
      writeFileSync(path, `${three[2]}\n`);
    }
    if (seen.length === 4) ended.abort();
  }
  assert.deepEqual(seen, ['one\n', 'two\n', 'one\n', 'three\n']);
});

test('the last lines are read only once if they fit in the last block', async () => {
  const path = join(directory, 'once.log');
  const entry = `${at(1)} stdout F ${'x'.repeat(80)}\n`;
  writeFileSync(path, entry.repeat(2000));
  const file = openSync(path, 'r');
  const size = entry.length * 2000;
  const find = (lines: number, more = {}) => findTail(file, { size, lines, ...more });
  const last = await find(10);
  assert.deepEqual([last.offset, last.bytes?.toString()], [size - 10 * entry.length, entry.repeat(10)]);
  assert.deepEqual(await find(1000), { offset: size - 1000 * entry.length });
  assert.deepEqual(await find(0), { offset: size });
  assert.deepEqual(await find(10, { size: size + 1 }).then(({ bytes }) => bytes), undefined); // the file has shrunk
  closeSync(file);
});

test('an unterminated last entry is returned at the end, without a newline', async () => {
  const log = `${three[0]}\n${three[1]}`;
  await checkText(log, {}, 'one\ntwo');
  await checkText(log, { follow: true }, 'one\ntwo');
  await checkText(log, { timestamps: true }, `${at(1)} one\n${at(2)} two`);
  await checkText(log, { limitBytes: 5 }, 'one\nt');
  await checkText(log, { tailLines: 1 }, 'two');
  await checkText(log, { tailLines: 2 }, 'one\ntwo');
  await checkText(log, { tailLines: 0 }, '');
  await checkText(log.slice(0, -'F two'.length - 'stderr '.length), { tailLines: 1 }, 'one\n');
  await checkText(`${three[0]}\n${at(2)} stdout P`, {}, 'one\n');
});

test('tailLines of a log that is being written returns no more than that many lines', async () => {
  const path = join(directory, 'busy.log');
  const entry = `${at(1)} stdout F ${'x'.repeat(100)}\n`;
  for (const tailLines of [0, 100, 3000]) {
    writeFileSync(path, entry.repeat(5000));
    let lines = 0;
    const reading = readLog(path, { tailLines }, { ended: AbortSignal.abort(), signal: new AbortController().signal });
    for await (const chunk of reading) {
      lines += chunk.toString().split('\n').length - 1;
      if (lines <= tailLines) appendFileSync(path, entry.repeat(1000));
    }
    assert.equal(lines, tailLines);
  }
});

test('with follow, tailLines applies only to the first file, even if the next one appears late', async () => {
  const path = join(directory, 'late.log');
  writeFileSync(path, `${three[0]}\n`);
  const ended = new AbortController();
  const seen: string[] = [];
  const until = { ended: ended.signal, signal: new AbortController().signal };
  for await (const chunk of readLog(path, { follow: true, tailLines: 1 }, until)) {
    seen.push(chunk.toString());
    if (seen.length === 1) {
      renameSync(path, `${path}.1`);
      appendFileSync(`${path}.1`, `${three[1]}\n`);
      writeFileSync(path, '');
    }
    if (seen.length === 2) {
      rmSync(path); // rotated again, but the runtime has not opened the next file yet
      setTimeout(() => {
        writeFileSync(`${path}.new`, `${three.join('\n')}\n`);
        renameSync(`${path}.new`, path);
      }, 100);
    }
    if (seen.length === 3) ended.abort();
  }
  assert.deepEqual(seen, ['one\n', 'two\n', 'one\ntwo\nthree\n']);
});

test('a FIFO in place of a log is not opened, so its writer stays blocked', async () => {
  const path = join(directory, 'fifo.log');
  execFileSync('mkfifo', [path]);
  const writer = spawn('sh', ['-c', 'echo begins; : > "$1"', 'sh', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(writer, 'exit').then(() => 'ended');
  try {
    await once(writer.stdout, 'data');
    const sleeps = () => /^State:\tS/m.test(readFileSync(`/proc/${writer.pid}/status`, 'latin1')) || undefined;
    await waitFor(sleeps, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
    const until = { ended: AbortSignal.abort(), signal: new AbortController().signal };
    await assert.rejects(readLog(path, {}, until).next(), { code: 'not_found' });
    assert.equal(await Promise.race([ended, delay(100, 'waits')]), 'waits');
  } finally {
    writer.kill('SIGKILL');
    await ended;
  }
});

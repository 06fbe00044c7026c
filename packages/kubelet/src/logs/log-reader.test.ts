import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseLogLine } from './cri-log.ts';
import { type LogQuery, readLog } from './log-reader.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-logs-'));
after(() => rmSync(directory, { recursive: true }));
const at = (second: number) => `2026-11-21T00:00:0${second}.000000000Z`;

async function check(lines: string[], query: LogQuery, expected: string) {
  const path = join(directory, `${Math.random()}.log`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  const life = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  const chunks: Buffer[] = [];
  for await (const chunk of readLog(path, query, life)) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), expected);
}

const three = [`${at(1)} stdout F one`, `${at(2)} stderr F two`, `${at(3)} stdout F three`];

test('a log is read without its times and tags', () => check(three, {}, 'one\ntwo\nthree\n'));
test('the last lines are found from the end', () => check(three, { tailLines: 2 }, 'two\nthree\n'));
test('more last lines than there are is all of them', () => check(three, { tailLines: 9 }, 'one\ntwo\nthree\n'));
test('no last lines is nothing', () => check(three, { tailLines: 0 }, ''));
test('lines before a time are left out', () => check(three, { sinceMs: Date.parse(at(2)) }, 'two\nthree\n'));
test('times can be shown', () => check(three.slice(0, 1), { timestamps: true }, `${at(1)} one\n`));
test('output ends at its limit in the middle of a line', () => check(three, { limitBytes: 6 }, 'one\ntw'));
test('a line written in pieces is one line, also at the tail', () =>
  check([`${at(1)} stdout F a`, `${at(2)} stdout P b`, `${at(2)} stdout F c`], { tailLines: 1 }, 'bc\n'));
test('what is not a log line is passed over', () => check(['nonsense', three[0]!], {}, 'one\n'));
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

test('following goes on through growth and rotation and ends with the container', async () => {
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

test('a log that never was is not found once the container has ended', async () => {
  const life = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  await assert.rejects(readLog(join(directory, 'none.log'), {}, life).next(), { code: 'not_found' });
});

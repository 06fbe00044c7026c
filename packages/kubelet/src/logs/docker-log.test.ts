import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { isPartialDockerLine, parseDockerLine } from './docker-log.ts';
import { type LogQuery, readLog } from './log-reader.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podwright-docker-logs-'));
after(() => rmSync(scratch, { recursive: true }));
const at = (second: number) => `2026-11-21T00:00:0${second}.123456789Z`;
const line = (second: number, log: string, stream = 'stdout') => JSON.stringify({ log, stream, time: at(second) });

async function read(path: string, query: LogQuery): Promise<string> {
  const until = { ended: AbortSignal.abort(), signal: new AbortController().signal };
  const chunks: Buffer[] = [];
  for await (const chunk of readLog(path, query, until)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function check(lines: string[], query: LogQuery, expected: string) {
  const path = join(scratch, 'one.log');
  writeFileSync(path, lines.map((one) => `${one}\n`).join(''));
  assert.equal(await read(path, query), expected);
}

const three = [line(1, 'one\n'), line(2, 'two\n', 'stderr'), line(3, 'drei ä "\\n"\n')];

test('only the text of Docker’s log entries is returned', () => check(three, {}, 'one\ntwo\ndrei ä "\\n"\n'));
test('timestamps can be shown', () => check(three.slice(0, 1), { timestamps: true }, `${at(1)} one\n`));
test('a line written in several chunks has only one timestamp, at its start', () =>
  check([line(1, 'a'), line(2, 'b\n'), line(3, 'c\n')], { timestamps: true }, `${at(1)} ab\n${at(3)} c\n`));
test('entries can be selected by stream and time', async () => {
  await check(three, { stream: 'stderr' }, 'two\n');
  await check(three, { sinceMs: Date.parse(at(3)) }, 'drei ä "\\n"\n');
});
test('chunks of a long line form one line, even at the tail', async () => {
  const pieces = [
    line(1, 'a\n'),
    line(2, 'b'.repeat(16_384)),
    line(2, 'c'.repeat(80_000)),
    line(2, 'd\n'),
    line(3, 'e\n'),
  ];
  const long = `${'b'.repeat(16_384)}${'c'.repeat(80_000)}d\n`;
  await check(pieces, {}, `a\n${long}e\n`);
  await check(pieces, { tailLines: 1 }, 'e\n');
  await check(pieces, { tailLines: 2 }, `${long}e\n`);
  await check(pieces, { tailLines: 3 }, `a\n${long}e\n`);
});
test('invalid lines are skipped', () =>
  check(['{"log":1}', '{', '{"log":"x\\n","stream":"stdin","time":"t"}', three[0]!], {}, 'one\n'));

test('an entry is partial unless its text ends with a newline', () => {
  const whole = (log: string, expected: boolean | undefined) =>
    assert.equal(isPartialDockerLine(Buffer.from(line(1, log))), expected, log);
  whole('a\n', false);
  whole('a', true);
  whole('', true);
  whole('\n', false);
  whole('a\\n', true); // a backslash and a letter
  whole('a\\\n', false);
  whole('","stream":"\n', false);
  assert.equal(isPartialDockerLine(Buffer.from('{"log":"cut')), undefined);
  assert.equal(isPartialDockerLine(Buffer.from(line(1, 'a\n').slice(0, -1))), undefined);
});

test('a line that is not valid UTF-8 is skipped', () => {
  const bad = Buffer.concat([Buffer.from('{"log":"'), Buffer.alloc(500, 0xff), Buffer.from(line(1, '\n').slice(8))]);
  assert.equal(parseDockerLine(bad), undefined);
});

test("only links to Docker's logs are followed", async () => {
  const id = 'ab'.repeat(32);
  mkdirSync(join(scratch, id));
  const log = join(scratch, id, `${id}-json.log`);
  writeFileSync(log, `${three[0]}\n`);
  const secret = join(scratch, 'secret');
  writeFileSync(secret, `${three[1]}\n`);
  const linked = async (name: string, target: string) => {
    symlinkSync(target, join(scratch, name));
    return await read(join(scratch, name), {});
  };
  assert.equal(await linked('good', log), 'one\n');
  await assert.rejects(linked('bad', secret), { code: 'not_found' });
  const other = join(scratch, 'cd'.repeat(32));
  mkdirSync(other);
  symlinkSync(secret, join(other, `${'cd'.repeat(32)}-json.log`));
  await assert.rejects(linked('worse', join(other, `${'cd'.repeat(32)}-json.log`)), { code: 'not_found' });
});

test('a link to a Docker log that is itself a link is not followed, even in a loop', async () => {
  const [one, other] = ['ef'.repeat(32), '12'.repeat(32)].map((id) => join(scratch, id, `${id}-json.log`));
  for (const [log, target] of [
    [one!, other!],
    [other!, one!],
  ] as const) {
    mkdirSync(dirname(log));
    symlinkSync(target, log);
  }
  symlinkSync(one!, join(scratch, 'loop'));
  await assert.rejects(read(join(scratch, 'loop'), {}), { code: 'not_found' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LogLine, logLine } from './log-line.ts';
import { MergedLog } from './merged-log.ts';

const at = (second: number, source: number): LogLine => ({
  time: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z`,
  source,
  text: `${source}:${second}`,
});
const texts = (log: MergedLog) => log.lines.map(({ text }) => text).join(' ');

test('a timestamp is split from the text, in UTC and with nanoseconds', () => {
  assert.deepEqual(logLine('2026-01-01T00:00:00.5Z hello', 1), {
    time: '2026-01-01T00:00:00.500000000Z',
    source: 1,
    text: 'hello',
  });
  assert.equal(logLine('2026-01-01T02:00:00.25+02:00 x', 0).time, '2026-01-01T00:00:00.250000000Z');
  assert.deepEqual(logLine('no stamp', 0), { time: '', source: 0, text: 'no stamp' });
  assert.equal(logLine('2026-01-01T00:00:00Z  two', 0).text, ' two');
});

test('lines from two containers are sorted by time, whatever their order of arrival', () => {
  const log = new MergedLog();
  log.add([at(1, 0), at(4, 0), at(5, 0)]);
  log.add([at(2, 1), at(3, 1), at(6, 1)]);
  log.add([at(7, 0), at(0, 1)]);
  assert.equal(texts(log), '1:0 0:1 1:2 1:3 0:4 0:5 1:6 0:7');
});

test('lines with the same time stay in order of arrival', () => {
  const log = new MergedLog();
  log.add([at(1, 0), at(1, 1)]);
  log.add([at(1, 0), at(0, 0)]);
  assert.equal(texts(log), '0:0 0:1 1:1 0:1');
});

test('if there are too many lines, the oldest are removed and counted', () => {
  const log = new MergedLog(100 * 90);
  for (let index = 0; index < 1000; index++) log.add([{ ...at(1, 0), text: String(index).padStart(10) }]);
  assert.ok(log.lines.length <= 100 && log.lines.length > 80, String(log.lines.length));
  assert.equal(log.dropped + log.lines.length, 1000);
  assert.equal(log.lines.at(-1)?.text.trim(), '999');
});

test('a million lines are added within seconds', () => {
  const log = new MergedLog();
  const begin = performance.now();
  for (let batch = 0; batch < 1000; batch++)
    log.add(
      Array.from({ length: 1000 }, (_, index) => ({
        time: `${1_000_000 + batch}`,
        source: index % 3,
        text: 'x'.repeat(100),
      })),
    );
  assert.ok(performance.now() - begin < 5000);
  assert.ok(log.lines.length < 100_000);
});

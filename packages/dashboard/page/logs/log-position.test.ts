import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logLine } from './log-line.ts';
import { LogPosition } from './log-position.ts';

const at = (second: number) => `2026-01-01T00:00:0${second}.000000000Z`;
const lines = (...texts: string[]) => texts.map((text) => logLine(text, 0));

/** Reads streams one after the other. Returns the unread text of each, and the timestamps at which they resume. */
function read(...streams: string[][][]) {
  const position = new LogPosition();
  return streams.map((chunks) => ({
    since: position.resume(),
    texts: chunks.flatMap((chunk) => position.unread(lines(...chunk)).map(({ text }) => text)),
  }));
}

test('a resumed stream yields only the lines that were not read before', () => {
  assert.deepEqual(
    read([[`${at(1)} a`, `${at(2)} b`], [`${at(2)} c`]], [[`${at(1)} a`, `${at(2)} b`, `${at(2)} c`, `${at(3)} d`]]),
    [
      { since: undefined, texts: ['a', 'b', 'c'] },
      { since: at(2), texts: ['d'] },
    ],
  );
});

test('lines with the timestamp of the last line that was read are not lost', () => {
  assert.deepEqual(
    read([[`${at(1)} a`]], [[`${at(1)} a`], [`${at(1)} b`]], [[`${at(1)} a`, `${at(1)} b`, `${at(1)} c`]]),
    [
      { since: undefined, texts: ['a'] },
      { since: at(1), texts: ['b'] },
      { since: at(1), texts: ['c'] },
    ],
  );
});

test('lines without a timestamp are kept, and do not move the position', () => {
  assert.deepEqual(read([[`${at(1)} a`, 'rpc error']], [[`${at(1)} a`, 'unable to retrieve container logs']]), [
    { since: undefined, texts: ['a', 'rpc error'] },
    { since: at(1), texts: ['unable to retrieve container logs'] },
  ]);
});

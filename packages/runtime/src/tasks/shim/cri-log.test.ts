import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCriLog } from './cri-log.ts';

test('output is logged line by line, and what ends no line as a part', () => {
  const check = (chunk: string, log: string[]) =>
    assert.equal(
      String(formatCriLog('stderr', Buffer.from(chunk), 'T')),
      log.map((line) => `T stderr ${line}\n`).join(''),
    );
  check('', []);
  check('one\n', ['F one']);
  check('one\n\ntwo', ['F one', 'F ', 'P two']);
  check('\n', ['F ']);
  check('part', ['P part']);
});

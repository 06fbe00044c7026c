import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logLine, quotedLine } from './log-text.ts';

test('only a log’s colors reach a terminal, and they end with their line', () => {
  const check = (text: string, expected: string) => assert.equal(logLine(text), expected);
  check('plain\ttext ü 漢', 'plain\ttext ü 漢');
  check('\x1b[31mred', '\x1b[31mred\x1b[0m');
  check('\x1b[38:5:1;1mx\x1b[m', '\x1b[38:5:1;1mx\x1b[m\x1b[0m');
  check('\x1b[2J\x1b[1Aabove', '^[[2J^[[1Aabove');
  check('\x1b]52;c;cm0gLXJmIC8=\x07', '^[]52;c;cm0gLXJmIC8=^G');
  check('\x9b2J', '\\u009b2J');
  check('a\u202eb', 'a\\u202eb');
});

test('a quoted line has no colors', () => {
  assert.equal(quotedLine('\x1b[31mFATAL\x1b[0m: no\x07'), 'FATAL: no^G');
});

test('a line with carriage returns shows its final state', () => {
  assert.equal(logLine(' 1 %\r50 %\r100 %\r'), '100 %');
  assert.equal(logLine('dos\r'), 'dos');
});

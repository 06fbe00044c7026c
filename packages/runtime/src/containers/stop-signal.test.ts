import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStopSignal } from './stop-signal.ts';

test('stop signals are parsed in all forms used by images', () => {
  const check = (text: string, expected: string) => assert.equal(parseStopSignal(text), expected, text);
  check('', 'SIGTERM');
  check('SIGINT', 'SIGINT');
  check('quit', 'SIGQUIT');
  check('9', 'SIGKILL');
  check('SIGRTMIN+3', '37');
  check('RTMAX-1', '63');
  check('37', '37');
});

test('an unknown signal is refused', () => {
  for (const text of ['SIGNOPE', '0', '65', 'SIGRTMIN+31', '-1', 'constructor']) {
    assert.throws(() => parseStopSignal(text), { code: 'invalid_argument' }, text);
  }
});

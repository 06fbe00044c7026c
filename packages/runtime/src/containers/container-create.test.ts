import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logPath } from './container-create.ts';

test('a log is in the directory of its sandbox', () => {
  assert.equal(logPath('/var/log/pods/p', 'c/0.log'), '/var/log/pods/p/c/0.log');
  assert.equal(logPath('/var/log/pods/p/', 'c/../c.log'), '/var/log/pods/p/c.log');
  assert.equal(logPath('/', 'c.log'), '/c.log');
  assert.equal(logPath('', 'c.log'), '');
  assert.equal(logPath('/p', ''), '');
});

test('a log path outside the log directory is rejected', () => {
  for (const path of ['..', '../x', 'a/../../x', '.', '../pod/x'])
    assert.throws(() => logPath('/logs/p', path), { code: 'invalid_argument', message: /logPath/ }, path);
});

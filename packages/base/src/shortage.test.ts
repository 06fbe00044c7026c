import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError, wrapError } from './errors.ts';
import { isShortage } from './shortage.ts';

const systemError = (code: string) => Object.assign(new Error(`${code}, mkdir`), { code });

test('running out of space, inodes or descriptors is a shortage, even as a cause or in a program’s output', () => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM']) {
    assert.ok(isShortage(systemError(code)), code);
    assert.ok(
      isShortage(wrapError('try', new PodwrightError('internal', 'mount', { cause: systemError(code) }))),
      code,
    );
  }
  assert.ok(isShortage(new Error('crun: mkdir `/run/x`: No space left on device')));
  assert.ok(isShortage('crun create: open: Too many open files'));
});

test('other failures are not shortages', () => {
  for (const error of [
    systemError('EINVAL'),
    systemError('EPERM'),
    new Error('unknown option'),
    'crun: no such device',
  ])
    assert.equal(isShortage(error), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { computeArgs, computeEnvironment, computeWorkingDirectory } from './process-config.ts';

test('a command replaces Entrypoint and Cmd of the image, arguments alone replace Cmd', () => {
  const image = { Entrypoint: ['/entry'], Cmd: ['a', 'b'] };
  const check = (command: string[], args: string[], expected: string[]) =>
    assert.deepEqual(computeArgs({ command, args }, image), expected);
  check([], [], ['/entry', 'a', 'b']);
  check([], ['x'], ['/entry', 'x']);
  check(['run'], [], ['run']);
  check(['run'], ['x'], ['run', 'x']);
  assert.deepEqual(computeArgs({ command: [], args: [] }, { Cmd: ['only'] }), ['only']);
  assert.throws(
    () => computeArgs({ command: [], args: [] }, {}),
    (error) => errorCode(error) === 'invalid_argument',
  );
});

test('later sources of the environment win, at the place of the first', () => {
  const environment = computeEnvironment({
    image: { Env: ['PATH=/image', 'KEEP=1', 'EMPTY='] },
    hostname: 'pod',
    terminal: true,
    asked: [
      { name: 'KEEP', value: '2=3' },
      { name: 'NEW', value: '' },
    ],
  });
  assert.deepEqual(environment, ['PATH=/image', 'TERM=xterm', 'HOSTNAME=pod', 'KEEP=2=3', 'EMPTY=', 'NEW=']);
  const plain = computeEnvironment({ image: {}, hostname: '', terminal: false, asked: [] });
  assert.deepEqual(plain, ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']);
});

test('a command starts where the container says, or the image, or at the root', () => {
  assert.equal(computeWorkingDirectory('/a/', { WorkingDir: '/b' }), '/a');
  assert.equal(computeWorkingDirectory('', { WorkingDir: 'b' }), '/b');
  assert.equal(computeWorkingDirectory('', {}), '/');
});

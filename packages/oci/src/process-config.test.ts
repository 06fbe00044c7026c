import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import {
  computeArgs,
  computeEnvironment,
  computeRlimits,
  computeWorkingDirectory,
  hasHome,
  withDefaultHome,
} from './process-config.ts';

test('a command replaces the image’s Entrypoint and Cmd, while arguments alone replace Cmd', () => {
  const image = { Entrypoint: ['/entry'], Cmd: ['a', 'b'] };
  const check = (command: string[], args: string[], expected: string[]) =>
    assert.deepEqual(computeArgs({ command, args }, image), expected);
  check([], [], ['/entry', 'a', 'b']);
  check([], ['x'], ['/entry', 'x']);
  check(['run'], [], ['run']);
  check(['run'], ['x'], ['run', 'x']);
  assert.deepEqual(computeArgs({ command: [], args: [] }, { Cmd: ['only'] }), ['only']);
  assert.deepEqual(computeArgs({ command: [], args: [] }, { Entrypoint: [''], Cmd: ['a', ''] }), ['a', '']);
  assert.deepEqual(computeArgs({ command: [], args: ['x'] }, { Entrypoint: [''], Cmd: ['a'] }), ['x']);
  assert.throws(
    () => computeArgs({ command: [], args: [] }, {}),
    (error) => errorCode(error) === 'invalid_argument',
  );
});

test('the open file limit is systemd’s default or the configured one, capped by that of this process', () => {
  const check = (requested: Parameters<typeof computeRlimits>[0], openFiles: number, expected: [number, number]) => {
    const [soft, hard] = expected;
    assert.deepEqual(computeRlimits(requested, { openFiles }), [{ type: 'RLIMIT_NOFILE', soft, hard }]);
  };
  check(undefined, 1_048_576, [1024, 524_288]);
  check(undefined, 20_000, [1024, 20_000]);
  check(undefined, 512, [512, 512]);
  check({ soft: 4096, hard: 8192 }, 20_000, [4096, 8192]);
});

test('a later environment source takes precedence, in the position of the first one', () => {
  const environment = computeEnvironment({
    image: { Env: ['PATH=/image', 'KEEP=1', 'EMPTY='] },
    hostname: 'pod',
    terminal: true,
    requested: [
      { name: 'KEEP', value: '2=3' },
      { name: 'NEW', value: '' },
    ],
  });
  assert.deepEqual(environment, ['PATH=/image', 'TERM=xterm', 'HOSTNAME=pod', 'KEEP=2=3', 'EMPTY=', 'NEW=']);
  const plain = computeEnvironment({ image: {}, hostname: '', terminal: false, requested: [] });
  assert.deepEqual(plain, ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']);
});

test('the working directory is that of the container, else that of the image, else the root', () => {
  assert.equal(computeWorkingDirectory('/a/', { WorkingDir: '/b' }), '/a');
  assert.equal(computeWorkingDirectory('', { WorkingDir: 'b' }), '/b');
  assert.equal(computeWorkingDirectory('a/b', { WorkingDir: '/b' }), '/a/b', 'runc refuses a relative one');
  assert.equal(computeWorkingDirectory('', {}), '/');
});

for (const [what, requested, image] of [
  ['Cmd of one empty word', { command: [], args: [] }, { Cmd: [''] }],
  ['Entrypoint and Cmd of one empty word', { command: [], args: [] }, { Entrypoint: [''], Cmd: [''] }],
  ['Entrypoint of empty words', { command: [], args: [] }, { Entrypoint: ['', ''] }],
  ['command of one empty word', { command: [''], args: [] }, { Entrypoint: ['/entry'] }],
  ['Entrypoint of one empty word alone', { command: [], args: [] }, { Entrypoint: [''] }],
] as const)
  test(`a ${what} is refused, as there is nothing to run`, () => {
    const copy = { command: [...requested.command], args: [...requested.args] };
    assert.throws(() => computeArgs(copy, image as object), { code: 'invalid_argument', message: /command/ });
  });

test('an image variable without `=` is unset, and one without a name is omitted', () => {
  const image = { Env: ['A=1', 'B', 'PATH', '=x', '', 'A', 'C='] };
  const requested = [{ name: 'D', value: '=' }];
  assert.deepEqual(computeEnvironment({ image, hostname: '', terminal: false, requested }), ['C=', 'D==']);
});

test('a missing HOME is set if the user has no account, and is otherwise left to the OCI runtime', () => {
  const check = (env: string[], lacksAccount: boolean, expected: string[]) => {
    assert.equal(hasHome(env), false);
    assert.deepEqual(withDefaultHome(env, { lacksAccount }), expected);
  };
  check(['A=1', 'HOMES=/x'], true, ['A=1', 'HOMES=/x', 'HOME=/']);
  check(['A=1'], false, ['A=1']);
  check(['HOME=', 'A=1'], true, ['A=1', 'HOME=/']);
  check(['HOME=', 'A=1'], false, ['A=1']);
  assert.equal(hasHome(['A=1', 'HOME=/mine']), true);
});

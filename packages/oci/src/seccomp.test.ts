import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { DEFAULT_CAPABILITIES } from './capabilities.ts';
import { defaultSeccompProfile, parseSeccompProfile } from './seccomp.ts';

/** Returns the default seccomp profile's rules for one system call. */
const rulesFor = (name: string, capabilities = DEFAULT_CAPABILITIES, architecture: NodeJS.Architecture = 'x64') =>
  defaultSeccompProfile(capabilities, architecture).syscalls!.filter(({ names }) => names.includes(name));
const isAllowed = (name: string, capabilities?: string[], architecture?: NodeJS.Architecture) =>
  rulesFor(name, capabilities, architecture).some(({ action, args }) => action === 'SCMP_ACT_ALLOW' && !args);

test('ordinary system calls are allowed, those that affect the host are not', () => {
  for (const name of ['read', 'openat', 'execve', 'futex', 'chroot', 'ptrace', 'arch_prctl'])
    assert.ok(isAllowed(name), name);
  for (const name of ['mount', 'reboot', 'bpf', 'init_module', 'keyctl', 'io_uring_setup', 'unshare', 'setns'])
    assert.ok(!isAllowed(name), name);
});

test('a capability allows the system calls that need it', () => {
  assert.ok(isAllowed('mount', ['CAP_SYS_ADMIN']));
  assert.ok(isAllowed('reboot', ['CAP_SYS_BOOT']));
  assert.ok(!isAllowed('chroot', []));
});

test('creating namespaces requires CAP_SYS_ADMIN, through both clone and clone3', () => {
  assert.equal(rulesFor('clone')[0]?.args?.[0]?.op, 'SCMP_CMP_MASKED_EQ');
  assert.equal(rulesFor('clone', [], 's390x')[0]?.args?.[0]?.index, 1);
  assert.deepEqual(rulesFor('clone3'), [{ names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 }]);
  for (const name of ['clone', 'clone3']) assert.ok(isAllowed(name, ['CAP_SYS_ADMIN']), name);
});

/** Evaluates the rules for the first argument of socket(2) as the kernel does: any matching rule allows the call. */
const isSocketAllowed = (family: bigint) =>
  rulesFor('socket').some(({ args }) =>
    args!.every(
      ({ value, valueTwo, op }) => op === 'SCMP_CMP_MASKED_EQ' && (family & BigInt(value)) === BigInt(valueTwo!),
    ),
  );

test('all socket families are allowed except AF_ALG and AF_VSOCK', () => {
  for (let family = 0n; family < 64n; family++)
    for (const upper of [0n, 1n << 32n, 0xffff_ffffn << 32n])
      assert.equal(isSocketAllowed(upper | family), family !== 38n && family !== 40n, String(family));
});

test('each architecture has its own system calls and filter', () => {
  assert.ok(isAllowed('sync_file_range2', [], 'arm64'));
  assert.ok(!isAllowed('arch_prctl', [], 'arm64'));
  assert.deepEqual(defaultSeccompProfile([], 'arm64').architectures, ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM']);
});

test('a profile from a file is used unchanged, and rejected if it is invalid or has Docker-specific fields', () => {
  const text =
    '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["chmod"],"action":"SCMP_ACT_ERRNO"}],"flags":[]}';
  assert.deepEqual(parseSeccompProfile(text, 'x'), JSON.parse(text));
  const wrong = [
    '',
    '[]',
    '{}',
    'null',
    '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":{}}',
    '{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["bpf"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_BPF"]}}]}',
  ];
  for (const profile of wrong)
    assert.throws(
      () => parseSeccompProfile(profile, 'x'),
      (error) => errorCode(error) === 'invalid_argument',
      profile,
    );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSelinuxOptions, parseSelinuxContexts, selinuxLabels } from './selinux.ts';

const contexts = {
  process: 'system_u:system_r:container_t:s0',
  file: 'system_u:object_r:container_file_t:s0',
};
const none = { user: '', role: '', type: '', level: '' };
const pod = { sandboxId: 'a', privileged: false };

test('a policy’s contexts are parsed, and other lines in the file are ignored', () => {
  const text = `# words\nprocess = "${contexts.process}"\n\nfile=${contexts.file}\nro_file = "x"\n; more\n`;
  assert.deepEqual(parseSelinuxContexts(text), contexts);
  assert.deepEqual(parseSelinuxContexts(''), { process: '', file: '' });
});

test('containers in a pod share two categories that no other pod has', () => {
  const labels = selinuxLabels(contexts, undefined, pod);
  const [, level] = /^system_u:system_r:container_t:(s0:c\d+,c\d+)$/.exec(labels.process) ?? [];
  assert.equal(labels.mount, `system_u:object_r:container_file_t:${level}`);
  assert.deepEqual(selinuxLabels(contexts, none, pod), labels);
  assert.notDeepEqual(selinuxLabels(contexts, undefined, { ...pod, sandboxId: 'b' }), labels);
  for (let id = 0; id < 2000; id++) {
    const { process } = selinuxLabels(contexts, undefined, { ...pod, sandboxId: String(id) });
    const [, low, high] = /c(\d+),c(\d+)$/.exec(process) ?? [];
    assert.ok(Number(low) < Number(high) && Number(high) < 1022, process);
  }
});

test('requested parts override those of the policy, but files keep their role and type', () => {
  const labels = selinuxLabels(contexts, { user: 'u', role: 'r', type: 't', level: 's0:c1,c2' }, pod);
  assert.deepEqual(labels, { process: 'u:r:t:s0:c1,c2', mount: 'u:object_r:container_file_t:s0:c1,c2' });
});

test('a privileged process has no label, and without SELinux there are no labels', () => {
  const labels = selinuxLabels(contexts, { ...none, level: 's0' }, { ...pod, privileged: true });
  assert.deepEqual(labels, { process: '', mount: contexts.file });
  assert.deepEqual(selinuxLabels({ process: '', file: '' }, undefined, pod), { process: '', mount: '' });
  const withoutLevels = { process: 'u:r:t', file: 'u:o:f' };
  assert.deepEqual(selinuxLabels(withoutLevels, undefined, pod), { process: 'u:r:t', mount: 'u:o:f' });
});

test('the error for an invalid part of a label names the field', () => {
  for (const level of ['', 's0', 's0-s15:c0.c1023', 's0:c1,c2', 's0:c1.c3,c5']) checkSelinuxOptions({ ...none, level });
  for (const level of ['x', 's0:c1,', 's0 ', 's0:c12345', 's0\n'])
    assert.throws(() => checkSelinuxOptions({ ...none, level }), { code: 'invalid_argument', message: /level/ }, level);
  for (const field of ['user', 'role', 'type'] as const)
    assert.throws(() => checkSelinuxOptions({ ...none, [field]: 'a:b' }), { message: new RegExp(field) });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxConfig, SandboxRecord } from '../records/sandbox-record.ts';
import { type InfraSettings, infraSpec } from './infra-spec.ts';

const program = {
  root: '/r',
  args: ['/p'],
  env: ['A=b'],
  cwd: '/',
  user: { uid: 70_000, gid: 5, additionalGids: [80_000] },
};
const settings: InfraSettings = {
  namespaces: { network: '/n', uts: '/u' },
  pid: 'new',
  cgroupsPath: '/c/x',
  oomScoreAdj: -998,
};
const sandbox = (config: Partial<SandboxConfig> = {}) =>
  ({ id: 'x', config: { podName: 'web', podNamespace: 'd', podUid: 'u', ...config } }) as SandboxRecord;

test('the infra process has no capabilities and no writable directory, and runs in the pod’s namespaces', () => {
  const { process, root, linux, annotations } = infraSpec(sandbox(), program, settings);
  assert.deepEqual(Object.values(process.capabilities!).flat(), []);
  assert.equal(process.noNewPrivileges, true);
  assert.deepEqual(process.user, program.user);
  assert.deepEqual(root, { path: '/r', readonly: true });
  assert.deepEqual(linux.namespaces, [
    { type: 'pid' },
    { type: 'mount' },
    { type: 'network', path: '/n' },
    { type: 'uts', path: '/u' },
  ]);
  assert.equal(annotations?.['io.kubernetes.cri.container-type'], 'sandbox');
  assert.equal(annotations?.['io.kubernetes.cri.sandbox-id'], 'x');
});

test('a pod with host PID gets no PID namespace', () => {
  const { linux } = infraSpec(sandbox(), program, { ...settings, pid: 'host' });
  assert.ok(!linux.namespaces.some(({ type }) => type === 'pid'));
});

test('IDs not mapped in a user namespace become 0', () => {
  const mapping = [{ containerId: 0, hostId: 100_000, length: 65_536 }];
  const mapped = sandbox({ userNamespace: { uids: mapping, gids: mapping } });
  const { process, linux } = infraSpec(mapped, program, { ...settings, namespaces: { user: '/user' } });
  assert.deepEqual(process.user, { uid: 0, gid: 5, additionalGids: [0] });
  assert.deepEqual(linux.uidMappings, [{ containerID: 0, hostID: 100_000, size: 65_536 }]);
  assert.deepEqual(linux.namespaces.at(-1), { type: 'user', path: '/user' });
});

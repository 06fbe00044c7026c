import { test } from 'node:test';
import { checkRow } from './row-checks.fixture.ts';

test('a node’s status is its Ready condition, and whether it is schedulable', () => {
  const check = (conditions: [string, string][], unschedulable: boolean, Status: string) =>
    checkRow(
      'Node',
      { spec: { unschedulable }, status: { conditions: conditions.map(([type, status]) => ({ type, status })) } },
      { Status },
    );
  check([['Ready', 'True']], false, 'Ready');
  check([['Ready', 'True']], true, 'Ready,SchedulingDisabled');
  check(
    [
      ['Ready', 'True'],
      ['Ready', 'True'],
    ],
    false,
    'Ready',
  );
  check([['Ready', 'False']], false, 'NotReady');
  check([['Ready', 'False']], true, 'NotReady,SchedulingDisabled');
  check([['Ready', 'Unknown']], false, 'NotReady');
  check([['InvalidValue', 'True']], false, 'Unknown');
  check(
    [
      ['InvalidValue', 'True'],
      ['Ready', 'True'],
    ],
    false,
    'Ready',
  );
  check([], false, 'Unknown');
  check([], true, 'Unknown,SchedulingDisabled');
});

test("a node's roles come from its labels", () => {
  const check = (labels: object | undefined, Roles: string) => checkRow('Node', { metadata: { labels } }, { Roles });
  check(undefined, '<none>');
  check({ 'node-role.kubernetes.io/': '', 'kubernetes.io/role': '' }, '<none>');
  check(
    { 'node-role.kubernetes.io/master': '', 'node-role.kubernetes.io/proxy': '', 'kubernetes.io/role': 'node' },
    'master,node,proxy',
  );
  check({ 'node-role.kubernetes.io/node': 'x', 'kubernetes.io/role': 'node' }, 'node');
});

test('wide rows of nodes show addresses and versions', () => {
  const check = (nodeInfo: object, ...[os, kernel, runtime]: [string, string, string]) =>
    checkRow(
      'Node',
      { status: { nodeInfo } },
      { 'OS-Image': os, 'Kernel-Version': kernel, 'Container-Runtime': runtime },
    );
  check({}, '<unknown>', '<unknown>', '<unknown>');
  check({ osImage: 'fake-os', kernelVersion: 'k', architecture: '' }, 'fake-os', 'k', '<unknown>');
  check(
    { kernelVersion: 'k', architecture: 'amd64', containerRuntimeVersion: 'foo://1.2.3' },
    '<unknown>',
    'k (amd64)',
    'foo://1.2.3',
  );
  check({ architecture: 'arm64' }, '<unknown>', '<unknown> (arm64)', '<unknown>');
  checkRow('Node', { status: { nodeInfo: { kubeletVersion: 'v1.36.2' } } }, { Version: 'v1.36.2' });
  const checkIps = (addresses: [string, string][], ...[internal, external]: [string, string]) =>
    checkRow(
      'Node',
      { status: { addresses: addresses.map(([type, address]) => ({ type, address })) } },
      { 'Internal-IP': internal, 'External-IP': external },
    );
  checkIps([], '<none>', '<none>');
  checkIps([['ExternalIP', '1.1.1.1']], '<none>', '1.1.1.1');
  checkIps(
    [
      ['Hostname', 'h'],
      ['InternalIP', '2.2.2.2'],
      ['InternalIP', '3.3.3.3'],
    ],
    '2.2.2.2',
    '<none>',
  );
  checkIps(
    [
      ['ExternalIP', '2.2.2.2'],
      ['InternalIP', '3.3.3.3'],
      ['ExternalIP', '4.4.4.4'],
    ],
    '3.3.3.3',
    '2.2.2.2',
  );
});

test('component statuses are healthy, unhealthy or unknown', () => {
  const check = (conditions: object[], ...[Status, Message, error]: [string, string, string]) =>
    checkRow('ComponentStatus', { conditions }, { Status, Message, Error: error });
  check([], 'Unknown', '', '');
  check([{ type: 'Healthy', status: 'True', message: 'ok' }], 'Healthy', 'ok', '');
  check([{ type: 'Healthy', status: 'False', error: 'err' }], 'Unhealthy', '', 'err');
});

test('runtime classes and leases show their main field', () => {
  checkRow('RuntimeClass.node.k8s.io', { handler: 'runc' }, { Handler: 'runc' });
  checkRow('Lease.coordination.k8s.io', { spec: { holderIdentity: 'h' } }, { Holder: 'h' });
  checkRow('Lease.coordination.k8s.io', { spec: {} }, { Holder: '' });
  const spec = { leaseName: 'l', binaryVersion: '1.2.3', emulationVersion: '1.2.0' };
  checkRow(
    'LeaseCandidate.coordination.k8s.io',
    { spec },
    { LeaseName: 'l', BinaryVersion: '1.2.3', EmulationVersion: '1.2.0' },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { adjustSpec } from './adjust-spec.ts';
import { ContainerAdjustmentSchema } from './gen/nri/v1alpha1/adjustment_pb.js';
import {
  IOPrioClass,
  type LinuxResourcesSchema,
  LinuxSchedulerPolicy,
  MpolMode,
} from './gen/nri/v1alpha1/container_pb.js';
import type { NriSpec } from './oci-spec.ts';
import { containerOfSpec } from './spec-messages.ts';
import { unsupportedSettings } from './unsupported-settings.ts';

const spec: NriSpec & { ociVersion: string } = {
  ociVersion: '1.0.2',
  process: { args: ['sh'], env: ['A=1', 'B=2'], rlimits: [{ type: 'RLIMIT_NOFILE', soft: 1, hard: 2 }] },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc', options: [] },
    { destination: '/data/x', type: 'bind', source: '/x', options: ['rbind'] },
  ],
  annotations: { a: '1', b: '2' },
  linux: {
    namespaces: [{ type: 'pid' }, { type: 'network', path: '/n' }],
    devices: [{ type: 'c', path: '/dev/a', major: 1, minor: 2 }],
    resources: { devices: [{ allow: false, access: 'rwm' }], memory: { limit: 1, swap: 1 } },
    sysctl: { 'net.a': '1' },
  },
};

const adjusted = (fields: MessageInitShape<typeof ContainerAdjustmentSchema>) =>
  adjustSpec(spec, create(ContainerAdjustmentSchema, fields));

test('an empty adjustment changes nothing', () => {
  assert.deepEqual(adjusted({}), spec);
});

test('marked keys remove entries, and other keys replace or add them', () => {
  const { process, annotations, mounts, linux } = adjusted({
    annotations: { '-a': '', c: '3' },
    env: [
      { key: '-A', value: '' },
      { key: 'B', value: '3' },
      { key: 'C', value: '4' },
    ],
    mounts: [{ destination: '-/data/x' }, { destination: '/data', type: 'bind', source: '/y', options: ['rbind'] }],
    linux: {
      devices: [{ path: '-/dev/a' }, { path: '/dev/b', type: 'b', major: 3n, minor: 4n, uid: { value: 5 } }],
      sysctl: { '-net.a': '', 'net.b': '2' },
      namespaces: [{ type: '-network' }, { type: 'ipc', path: '/i' }],
    },
  });
  assert.deepEqual(annotations, { b: '2', c: '3' });
  assert.deepEqual(process?.env, ['B=3', 'C=4']);
  assert.deepEqual(
    mounts?.map(({ destination }) => destination),
    ['/proc', '/data'],
  );
  assert.deepEqual(linux?.devices, [{ path: '/dev/b', type: 'b', major: 3, minor: 4, uid: 5 }]);
  const rule = { allow: true, type: 'b', major: 3, minor: 4, access: 'rwm' };
  assert.deepEqual(linux?.resources?.devices, [{ allow: false, access: 'rwm' }, rule]);
  assert.deepEqual(linux?.sysctl, { 'net.b': '2' });
  assert.deepEqual(linux?.namespaces, [{ type: 'pid' }, { type: 'ipc', path: '/i' }]);
});

test('mounts are sorted by depth, and shared propagation needs a shared root', () => {
  const { mounts, linux } = adjusted({ mounts: [{ destination: '/data', options: ['rbind', 'rshared'] }] });
  assert.deepEqual(
    mounts?.map(({ destination }) => destination),
    ['/proc', '/data', '/data/x'],
  );
  assert.equal(linux?.rootfsPropagation, 'rshared');
});

test('process settings, hooks and policies are set', () => {
  const { process, hooks, linux } = adjusted({
    args: ['sleep', '1'],
    rlimits: [{ type: 'RLIMIT_NOFILE', soft: 3n, hard: (1n << 64n) - 1n }],
    hooks: { poststop: [{ path: '/h', args: ['h'], timeout: { value: 5n } }] },
    linux: {
      oomScoreAdj: { value: 7n },
      ioPriority: { class: IOPrioClass.IOPRIO_CLASS_BE, priority: 3 },
      scheduler: { policy: LinuxSchedulerPolicy.SCHED_FIFO, priority: 5 },
      netDevices: { eth9: { name: 'eth0' } },
      memoryPolicy: { mode: MpolMode.MPOL_BIND, nodes: '0' },
      rdt: { closId: { value: 'gold' } },
      seccompPolicy: { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ names: ['mkdir'], action: 'SCMP_ACT_ERRNO' }] },
    },
  });
  assert.deepEqual(process?.args, ['sleep', '1']);
  assert.equal(process?.rlimits?.length, 1);
  assert.ok(BigInt(JSON.stringify(process?.rlimits?.[0]?.hard)) < 1n << 64n, 'the JSON text fits an unsigned field');
  assert.deepEqual(process?.oomScoreAdj, 7);
  assert.deepEqual(process?.ioPriority, { class: 'IOPRIO_CLASS_BE', priority: 3 });
  assert.equal(process?.scheduler?.policy, 'SCHED_FIFO');
  assert.deepEqual(hooks, { poststop: [{ path: '/h', args: ['h'], timeout: 5 }] });
  assert.equal(linux?.netDevices?.eth9?.name, 'eth0');
  assert.deepEqual(linux?.memoryPolicy, { mode: 'MPOL_BIND', nodes: '0', flags: [] });
  assert.deepEqual(linux?.intelRdt, { closID: 'gold' });
  assert.equal(linux?.seccomp?.syscalls?.[0]?.names[0], 'mkdir');
});

test('resources replace individual limits, and a memory limit also limits swap', () => {
  const { linux } = adjusted({
    linux: {
      resources: {
        memory: { limit: { value: 10n }, reservation: { value: 5n } },
        cpu: { cpus: '0-1', shares: { value: 2n } },
        pids: { limit: 9n },
        hugepageLimits: [{ pageSize: '2MB', limit: 4n }],
        unified: { 'memory.high': '1' },
      },
    },
  });
  assert.deepEqual(linux?.resources, {
    devices: [{ allow: false, access: 'rwm' }],
    memory: { limit: 10, swap: 10, reservation: 5 },
    cpu: { cpus: '0-1', shares: 2 },
    pids: { limit: 9 },
    hugepageLimits: [{ pageSize: '2MB', limit: 4 }],
    unified: { 'memory.high': '1' },
  });
});

test('plugins see the specification', () => {
  const container = containerOfSpec(spec);
  assert.deepEqual(container.args, ['sh']);
  assert.deepEqual(container.env, ['A=1', 'B=2']);
  assert.equal(container.rlimits[0]?.hard, 2n);
  assert.equal(container.linux?.namespaces[1]?.path, '/n');
  assert.equal(container.linux?.resources?.memory?.limit?.value, 1n);
  assert.equal(container.linux?.devices[0]?.path, '/dev/a');
});

test('settings not supported by the host or the OCI runtime are named', () => {
  const adjust = create(ContainerAdjustmentSchema, {
    linux: {
      resources: {
        blockioClass: { value: 'slow' },
        rdtClass: { value: 'gold' },
        hugepageLimits: [{ pageSize: '2MB' }],
      },
      scheduler: { policy: LinuxSchedulerPolicy.SCHED_BATCH },
      netDevices: { eth9: {} },
    },
  });
  const check = (ociVersion: string, able: boolean, expected: string[]) => {
    const host = { ociVersion, cgroupVersion: 2, hugetlb: able, swapLimit: able, rdt: able } as const;
    assert.deepEqual(unsupportedSettings(adjust, host), expected);
  };
  check('1.0.2-dev', false, ['block I/O class', 'RDT class', 'huge page limit', 'scheduler', 'network devices']);
  check('1.1.0', true, ['block I/O class', 'network devices']);
  check('1.3.0', true, ['block I/O class']);
  const removals = create(ContainerAdjustmentSchema, { linux: { netDevices: { '-eth9': {} }, rdt: { remove: true } } });
  const host = { ociVersion: '1.0.2', cgroupVersion: 1, hugetlb: false, swapLimit: false, rdt: false } as const;
  assert.deepEqual(unsupportedSettings(removals, host), []);
});

test('settings specific to one cgroup version are named on hosts with the other version', () => {
  const check = (resources: MessageInitShape<typeof LinuxResourcesSchema>, expected: Record<1 | 2, string[]>) => {
    const adjust = create(ContainerAdjustmentSchema, { linux: { resources } });
    for (const cgroupVersion of [1, 2] as const) {
      const host = { ociVersion: '1.3.0', cgroupVersion, hugetlb: true, swapLimit: false, rdt: true };
      assert.deepEqual(unsupportedSettings(adjust, host), expected[cgroupVersion]);
    }
  };
  const value = 1n;
  check({ unified: { 'memory.high': '1' } }, { 1: ['files of cgroup v2'], 2: [] });
  check({ memory: { swappiness: { value } } }, { 1: [], 2: ['swappiness'] });
  check({ memory: { kernelTcp: { value } } }, { 1: [], 2: ['kernel TCP memory limit'] });
  check({ memory: { disableOomKiller: { value: true } } }, { 1: [], 2: ['disabling the OOM killer'] });
  check({ memory: { disableOomKiller: { value: false }, useHierarchy: { value: true } } }, { 1: [], 2: [] });
  check({ cpu: { realtimePeriod: { value } } }, { 1: [], 2: ['realtime CPU time'] });
  const never = ['swap limit', 'kernel memory limit', 'memory without hierarchy'];
  const memory = { swap: { value }, kernel: { value }, useHierarchy: { value: false } };
  check({ memory }, { 1: never, 2: never });
  check({ memory: { limit: { value }, reservation: { value } }, pids: { limit: 1n } }, { 1: [], 2: [] });
});

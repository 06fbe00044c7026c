import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ContainerConfigSchema,
  create,
  type MessageInitShape,
  MountPropagation,
  NamespaceMode,
  Signal,
} from '@podwright/cri';
import { containerConfig } from './container-config.ts';

type Init = Omit<Extract<MessageInitShape<typeof ContainerConfigSchema>, { $typeName?: undefined }>, '$typeName'>;
const minimal: Init = { metadata: { name: 'web', attempt: 2 }, image: { image: 'busybox' } };
const translate = (more: Init) => containerConfig(create(ContainerConfigSchema, { ...minimal, ...more }));

test('a minimal configuration results in the CRI defaults', () => {
  const config = translate({});
  assert.equal(config.name, 'web');
  assert.equal(config.attempt, 2);
  assert.equal(config.image.reference, 'busybox');
  assert.equal(config.stopSignal, '');
  assert.deepEqual(config.security.pid, { mode: 'pod' });
  assert.deepEqual(config.security.seccomp, { type: 'unconfined' });
  assert.equal(config.security.apparmor, undefined);
  assert.equal(config.resources.memoryLimitBytes, 0);
});

test('fields that are set are translated', () => {
  const config = translate({
    stopSignal: Signal.SIGRTMINPLUS3,
    envs: [{ key: 'A', value: Buffer.from('ä') }],
    mounts: [
      { containerPath: '/d', hostPath: '/h', readonly: true, propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL },
    ],
    linux: {
      resources: { memoryLimitInBytes: 1n << 40n },
      securityContext: {
        runAsUser: { value: 1000n },
        namespaceOptions: { pid: NamespaceMode.TARGET, targetId: 'abc' },
        seccomp: { profileType: 2, localhostRef: 'localhost/p.json' },
      },
    },
  });
  assert.equal(config.stopSignal, 'SIGRTMIN+3');
  assert.deepEqual(config.envs, [{ name: 'A', value: 'ä' }]);
  assert.equal(config.mounts[0]?.propagation, 'bidirectional');
  assert.equal(config.resources.memoryLimitBytes, 2 ** 40);
  assert.equal(config.security.runAsUser, 1000);
  assert.deepEqual(config.security.pid, { mode: 'target', containerId: 'abc' });
  assert.deepEqual(config.security.seccomp, { type: 'localhost', ref: 'p.json' });
});

function refuse(more: Init, message: RegExp): void {
  const refused = JSON.stringify(more, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  assert.throws(() => translate(more), { code: 'invalid_argument', message }, refused);
}

const accept = (more: Init) => assert.doesNotThrow(() => translate(more));

test('a configuration without a required field is refused', () => {
  assert.throws(() => containerConfig(undefined), { code: 'invalid_argument' });
  refuse({ metadata: undefined }, /no metadata/);
  refuse({ metadata: { name: '' } }, /no name/);
  refuse({ image: undefined }, /no image/);
  refuse({ image: { image: '' } }, /no image/);
  refuse({ stopSignal: 99 as never }, /stopSignal 99/);
  refuse({ CDIDevices: [{ name: 'gpu0' }] }, /"gpu0" is not vendor\/class=name/);
  // as in containerd, a container name may contain any characters and have any length
  for (const name of ['../x', 'a/b', 'ü', 'x'.repeat(300)]) accept({ metadata: { name } });
});

test('strings containing a NUL byte, where the kernel would truncate them, are rejected', () => {
  refuse({ command: ['a\0b'] }, /command "a\\u0000b"/);
  refuse({ args: ['a\0'] }, /args/);
  refuse({ workingDir: '/\0' }, /workingDir/);
  refuse({ logPath: 'a\0' }, /logPath/);
  refuse({ envs: [{ key: 'A', value: Buffer.from('x\0') }] }, /variable A/);
  refuse({ envs: [{ key: 'A\0', value: Buffer.from('x') }] }, /envs/);
  refuse({ envs: [{ key: '', value: Buffer.from('x') }] }, /envs: a variable has no name/);
  accept({ command: [''], args: ['\n', '\ud800'], workingDir: 'relative/../path', envs: [{ key: 'a b' }] });
});

test('invalid mounts are refused', () => {
  const mount = (more: object) => ({ mounts: [{ containerPath: '/d', hostPath: '/h', ...more }] });
  refuse(mount({ containerPath: '' }), /mounts\.containerPath "" is not an absolute path/);
  refuse(mount({ containerPath: 'd' }), /mounts\.containerPath "d"/);
  refuse(mount({ containerPath: '/' }), /the root itself/);
  refuse(mount({ containerPath: '/a/../..' }), /the root itself/);
  refuse(mount({ containerPath: '/a\0' }), /zero byte/);
  refuse(mount({ hostPath: '' }), /mount \/d: hostPath "" is not an absolute path/);
  refuse(mount({ hostPath: '../h' }), /hostPath "\.\.\/h"/);
  refuse(mount({ propagation: 9 as never }), /propagation 9/);
  refuse(mount({ recursiveReadOnly: true }), /recursiveReadOnly needs readonly/);
  const { PROPAGATION_HOST_TO_CONTAINER: slave, PROPAGATION_BIDIRECTIONAL: shared } = MountPropagation;
  for (const propagation of [slave, shared])
    refuse(mount({ recursiveReadOnly: true, readonly: true, propagation }), /private propagation/);
  refuse(mount({ image: { image: 'i' } }), /both an image and a hostPath/);
  refuse(mount({ image: { image: 'i' }, hostPath: '', imageSubPath: 'a/../..' }), /imageSubPath/);
  accept(mount({ containerPath: '/a/../d', hostPath: '/h/../x' }));
  accept({ mounts: [mount({}), mount({})].flatMap(({ mounts }) => mounts) });
});

test('invalid devices are refused', () => {
  const device = (more: object) => ({ devices: [{ containerPath: '/dev/x', hostPath: '/dev/null', ...more }] });
  refuse(device({ hostPath: '' }), /devices\.hostPath ""/);
  refuse(device({ hostPath: 'dev/null' }), /devices\.hostPath/);
  refuse(device({ containerPath: 'x' }), /device \/dev\/null: containerPath "x"/);
  for (const permissions of ['x', 'rwmr', 'RW', ' ']) refuse(device({ permissions }), /permissions/);
  for (const permissions of ['', 'r', 'mwr']) accept(device({ permissions }));
  accept(device({ containerPath: '' }));
});

test('limits that no kernel accepts are refused', () => {
  const limits = (resources: object) => ({ linux: { resources } });
  const big = 1n << 62n;
  for (const cpuPeriod of [-1n, 1n, 999n, 1_000_001n, big]) refuse(limits({ cpuPeriod }), /cpuPeriod/);
  for (const cpuQuota of [-2n, 1n, 999n, big]) refuse(limits({ cpuQuota }), /cpuQuota/);
  for (const cpuShares of [-1n, big]) refuse(limits({ cpuShares }), /cpuShares/);
  for (const memoryLimitInBytes of [-2n, big]) refuse(limits({ memoryLimitInBytes }), /memoryLimitInBytes/);
  for (const swap of [-2n, big]) refuse(limits({ memorySwapLimitInBytes: swap }), /memorySwapLimitInBytes/);
  refuse(limits({ memoryLimitInBytes: 2n, memorySwapLimitInBytes: 1n }), /less than memoryLimitInBytes 2/);
  for (const oomScoreAdj of [-1001n, 1001n]) refuse(limits({ oomScoreAdj }), /oomScoreAdj/);
  for (const list of ['a', '0-', ',1', '0,', '0 1', '-1', '0\n'])
    for (const field of ['cpusetCpus', 'cpusetMems']) refuse(limits({ [field]: list }), new RegExp(field));
  for (const pageSize of ['', '2', '2MB/../x', '2mb', 'MB'])
    refuse(limits({ hugepageLimits: [{ pageSize, limit: 0n }] }), /hugepageLimits\.pageSize/);
  refuse(limits({ hugepageLimits: [{ pageSize: '2MB', limit: big }] }), /hugepageLimits\.limit/);
  for (const key of ['../memory.max', 'a/b.c', '', 'memory', '.max', 'memory.', 'memory..max', 'memory.max/..'])
    refuse(limits({ unified: { [key]: '1' } }), /unified/);
  accept(limits({ cpuPeriod: 100_000n, cpuQuota: -1n, cpuShares: 2n, memoryLimitInBytes: -1n, oomScoreAdj: -998n }));
  accept(
    limits({ memoryLimitInBytes: 5n, memorySwapLimitInBytes: -1n, cpusetCpus: '0-3,7,8-15:1/2', cpusetMems: '0' }),
  );
  accept(limits({ hugepageLimits: [{ pageSize: '1GB', limit: 0n }], unified: { 'memory.high': 'max' } }));
});

test('the cgroup v1 value for unlimited memory means no limit, for every page size', () => {
  for (const unlimited of [(1n << 63n) - 1n, (1n << 63n) - (1n << 12n), (1n << 63n) - (1n << 16n)]) {
    const resources = { memoryLimitInBytes: unlimited, memorySwapLimitInBytes: unlimited };
    const config = translate({ linux: { resources } });
    assert.deepEqual([config.resources.memoryLimitBytes, config.resources.memorySwapLimitBytes], [-1, -1]);
  }
});

test('cgroup files that are not limits are refused', () => {
  const files = [
    'cgroup.procs',
    'cgroup.threads',
    'cgroup.subtree_control',
    'cgroup.type',
    'cgroup.kill',
    'cgroup.freeze',
  ];
  for (const file of [...files, 'tasks', 'release_agent', 'devices.allow', 'freezer.state'])
    refuse({ linux: { resources: { unified: { [file]: '1' } } } }, new RegExp(`unified: "${file}" is not a file`));
  for (const file of ['cpu.max.burst', 'io.max', 'hugetlb.2MB.max', 'memory.oom.group', 'pids.max', 'cpuset.cpus'])
    accept({ linux: { resources: { unified: { [file]: '1' } } } });
});

test('an invalid security context is refused', () => {
  const security = (securityContext: object) => ({ linux: { securityContext } });
  refuse(security({ runAsGroup: { value: 1n } }), /runAsGroup/);
  for (const value of [-1n, 1n << 32n, 0xffffffffn]) {
    refuse(security({ runAsUser: { value } }), new RegExp(`runAsUser ${value} is not an id`));
    refuse(security({ runAsUser: { value: 1n }, runAsGroup: { value } }), /runAsGroup .* is not an id/);
    refuse(security({ supplementalGroups: [value] }), /supplementalGroups/);
  }
  refuse(security({ runAsUsername: 'a\0' }), /runAsUsername/);
  refuse(security({ supplementalGroupsPolicy: 9 }), /supplementalGroupsPolicy 9/);
  refuse(security({ namespaceOptions: { pid: 9 } }), /namespaceOptions\.pid 9/);
  refuse(security({ namespaceOptions: { pid: NamespaceMode.TARGET } }), /targetId is empty/);
  refuse(security({ maskedPaths: ['proc'] }), /maskedPaths "proc"/);
  refuse(security({ readonlyPaths: [''] }), /readonlyPaths ""/);
  refuse(security({ selinuxOptions: { level: 'x' } }), /selinuxOptions\.level/);
  for (const field of ['seccomp', 'apparmor']) {
    refuse(security({ [field]: { profileType: 9 } }), new RegExp(`${field}: type 9`));
    refuse(security({ [field]: { profileType: 2, localhostRef: '' } }), new RegExp(`${field}: localhostRef is empty`));
    for (const profileType of [0, 1])
      refuse(security({ [field]: { profileType, localhostRef: 'x' } }), new RegExp(`${field}: localhostRef "x"`));
  }
  refuse(security({ seccompProfilePath: 'odd' }), /seccomp: profile "odd"/);
  refuse(security({ apparmorProfile: 'odd' }), /apparmor: profile "odd"/);
  accept(security({ runAsUser: { value: 0xfffffffen }, runAsUsername: 'x', selinuxOptions: { type: 'container_t' } }));
  accept(
    security({ maskedPaths: ['/proc/../x'], seccompProfilePath: 'runtime/default', apparmorProfile: 'unconfined' }),
  );
});

test('no paths are masked by default', () => {
  const { maskedPaths, readonlyPaths } = translate({}).security;
  assert.deepEqual([maskedPaths, readonlyPaths], [[], []]);
});

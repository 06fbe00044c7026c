import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSpec } from './build-spec.ts';
import { ALL_CAPABILITIES } from './capabilities.ts';
import type { OciSpec } from './spec.ts';
import type { SpecInput, SpecMount } from './spec-input.ts';

type Changes = Partial<Omit<SpecInput, 'security' | 'host' | 'namespaces' | 'resources'>> & {
  [K in 'security' | 'host' | 'namespaces' | 'resources']?: Partial<SpecInput[K]>;
};

const base: SpecInput = {
  args: ['run'],
  env: ['A=1'],
  cwd: '/',
  user: { uid: 1, gid: 2, additionalGids: [2] },
  terminal: false,
  rlimits: [],
  rootfs: { path: '/rootfs', readonly: false },
  hostname: 'pod',
  mounts: [],
  security: {
    privileged: false,
    addCapabilities: [],
    dropCapabilities: [],
    addAmbientCapabilities: [],
    noNewPrivileges: false,
    maskedPaths: ['/proc/kcore'],
    readonlyPaths: ['/proc/sys'],
    seccomp: 'runtime-default',
    apparmorProfile: '',
    selinuxProcessLabel: '',
    selinuxMountLabel: '',
  },
  namespaces: {
    network: { kind: 'path', path: '/ns/net' },
    ipc: { kind: 'path', path: '/ns/ipc' },
    uts: { kind: 'path', path: '/ns/uts' },
    pid: { kind: 'new' },
  },
  devices: [{ path: '/dev/x', type: 'c', major: 9, minor: 8, access: 'rw', hostPath: '/dev/host-x' }],
  hostDevices: [{ path: '/dev/host', type: 'b', major: 7, minor: 1 }],
  resources: {
    cpuShares: 0,
    cpuQuota: 0,
    cpuPeriod: 0,
    cpusetCpus: '',
    cpusetMems: '',
    memoryLimitBytes: 0,
    memorySwapLimitBytes: 0,
    pidsLimit: 0,
    hugepageLimits: [],
    unified: {},
    oomScoreAdj: -900,
  },
  cgroupsPath: '/pod/c',
  annotations: { a: 'b' },
  host: {
    capabilities: ALL_CAPABILITIES,
    cgroupMode: 'v1',
    cgroupMountOptions: [],
    swapLimit: true,
    hugetlb: false,
    openFiles: 20_000,
    minimumOomScoreAdj: -1000,
    architecture: 'x64',
  },
};

function build({ security, host, namespaces, resources, ...changes }: Changes = {}): OciSpec {
  return buildSpec({
    ...base,
    ...changes,
    security: { ...base.security, ...security },
    host: { ...base.host, ...host },
    namespaces: { ...base.namespaces, ...namespaces },
    resources: { ...base.resources, ...resources },
  });
}

const mount = (destination: string, changes: Partial<SpecMount> = {}): SpecMount => ({
  destination,
  source: `/host${destination}`,
  readonly: false,
  recursiveReadOnly: false,
  propagation: 'private',
  sourceRestrictions: [],
  ...changes,
});

test('namespaces are new or those of the pod, and host namespaces are omitted', () => {
  assert.deepEqual(build().linux.namespaces, [
    { type: 'mount' },
    { type: 'network', path: '/ns/net' },
    { type: 'ipc', path: '/ns/ipc' },
    { type: 'uts', path: '/ns/uts' },
    { type: 'pid' },
  ]);
  const host = build({ namespaces: { network: { kind: 'host' }, pid: { kind: 'host' } } }).linux.namespaces;
  assert.deepEqual(
    host.map(({ type }) => type),
    ['mount', 'ipc', 'uts'],
  );
});

test('a host name is set only in a new UTS namespace', () => {
  assert.equal(build().hostname, undefined);
  assert.equal(build({ namespaces: { uts: { kind: 'new' } } }).hostname, 'pod');
});

test('with cgroup v2 an unprivileged container gets a cgroup namespace', () => {
  const types = (changes: Changes) => build(changes).linux.namespaces.map(({ type }) => type);
  assert.ok(types({ host: { cgroupMode: 'v2' } }).includes('cgroup'));
  assert.ok(!types({ host: { cgroupMode: 'v2' }, security: { privileged: true } }).includes('cgroup'));
});

test("a container in the host's cgroup namespace keeps the mount options of the cgroup tree", () => {
  const options = (privileged: boolean) => {
    const host: Changes['host'] = { cgroupMode: 'v2', cgroupMountOptions: ['nsdelegate'] };
    const { mounts } = build({ host, security: { privileged } });
    return mounts.find(({ type }) => type === 'cgroup')?.options ?? [];
  };
  assert.ok(options(true).includes('nsdelegate') && options(true).includes('rw'));
  assert.ok(!options(false).includes('nsdelegate') && options(false).includes('ro'));
});

test("a container in a user namespace joins it, and with host networking gets the host's sysfs", () => {
  const range = [{ containerId: 0, hostId: 9, length: 5 }];
  const user = { path: '/ns/user', mappings: { uids: range, gids: range } };
  const own = build({ namespaces: { user } });
  assert.deepEqual(own.linux.namespaces.at(-1), { type: 'user', path: '/ns/user' });
  assert.deepEqual(own.linux.uidMappings, [{ containerID: 0, hostID: 9, size: 5 }]);
  assert.deepEqual(own.linux.gidMappings, own.linux.uidMappings);
  assert.equal(own.linux.devices, undefined);
  assert.deepEqual([own.mounts.at(-1)?.destination, own.mounts.at(-1)?.source], ['/dev/x', '/dev/host-x']);
  assert.deepEqual(own.linux.resources?.devices?.at(-1)?.access, 'rw');
  const sysfs = (spec: OciSpec) => spec.mounts.find(({ destination }) => destination === '/sys');
  assert.equal(sysfs(own)?.type, 'sysfs');
  const host = build({ namespaces: { user, network: { kind: 'host' } } });
  assert.deepEqual([sysfs(host)?.type, sysfs(host)?.source], ['bind', '/sys']);
  assert.ok(sysfs(host)?.options.includes('rro'));
  assert.ok(sysfs(host)?.options.includes('rprivate'), 'mounts below it stay in the container');
});

test('a privileged container has all capabilities and devices, no masked paths, and no seccomp filter', () => {
  const { process, linux, mounts } = build({ security: { privileged: true, apparmorProfile: '' } });
  assert.deepEqual(process.capabilities?.bounding, ALL_CAPABILITIES);
  assert.deepEqual(
    linux.devices?.map(({ path }) => path),
    ['/dev/host', '/dev/x'],
  );
  assert.deepEqual(linux.resources?.devices, [{ allow: true, access: 'rwm' }]);
  assert.deepEqual([linux.seccomp, linux.maskedPaths, linux.readonlyPaths], [undefined, [], []]);
  assert.ok(mounts.find(({ destination }) => destination === '/sys')?.options.includes('rw'));
});

test('an unprivileged container has the default seccomp filter and only the requested devices', () => {
  const { linux, mounts } = build();
  assert.ok(linux.seccomp?.syscalls?.length);
  assert.deepEqual(linux.maskedPaths, ['/proc/kcore']);
  assert.deepEqual(linux.devices, [{ path: '/dev/x', type: 'c', major: 9, minor: 8 }]);
  assert.deepEqual(linux.resources?.devices?.[0], { allow: false, access: 'rwm' });
  assert.deepEqual(linux.resources?.devices?.at(-1), { allow: true, type: 'c', major: 9, minor: 8, access: 'rw' });
  assert.ok(mounts.find(({ destination }) => destination === '/sys/fs/cgroup')?.options.includes('ro'));
  assert.equal(build({ security: { seccomp: undefined } }).linux.seccomp, undefined);
});

test('container mounts come after the default ones, replace those they cover, and are sorted parents first', () => {
  const { mounts } = build({ mounts: [mount('/a/b/c'), mount('/dev/'), mount('/a')] });
  assert.deepEqual(
    mounts.map(({ destination }) => destination),
    ['/proc', '/sys', '/sys/fs/cgroup', '/dev', '/a', '/a/b/c'],
  );
});

test('a mount has the requested access and propagation, plus the restrictions of its source mount', () => {
  const check = (changes: Partial<SpecMount>, options: string[], propagation: string | undefined) => {
    const { mounts, linux } = build({ mounts: [mount('/a', changes)] });
    assert.deepEqual(mounts.at(-1)?.options, options);
    assert.equal(linux.rootfsPropagation, propagation);
  };
  check({}, ['rbind', 'rprivate', 'rw'], undefined);
  check({ readonly: true }, ['rbind', 'rprivate', 'ro'], undefined);
  check({ readonly: true, recursiveReadOnly: true }, ['rbind', 'rprivate', 'rro'], undefined);
  const sourceRestrictions = ['ro', 'nosuid', 'nodev'];
  check({ sourceRestrictions }, ['rbind', 'rprivate', 'ro', 'nosuid', 'nodev'], undefined);
  check(
    { sourceRestrictions, readonly: true, recursiveReadOnly: true },
    ['rbind', 'rprivate', 'rro', 'nosuid', 'nodev'],
    undefined,
  );
  check({ propagation: 'host-to-container' }, ['rbind', 'rslave', 'rw'], 'rslave');
  check({ propagation: 'bidirectional' }, ['rbind', 'rshared', 'rw'], 'rshared');
});

test('requested limits are set if the host supports them', () => {
  const resources = {
    cpuShares: 10,
    cpuQuota: -1,
    memoryLimitBytes: 100,
    hugepageLimits: [{ pageSize: '2MB', limitBytes: 1 }],
  };
  const unified = { 'memory.high': '5' };
  const on = (host: Changes['host'], more: Changes['resources'] = {}) => {
    const { devices: _, ...limits } = build({ resources: { ...resources, ...more }, host }).linux.resources ?? {};
    return limits;
  };
  const cpu = { shares: 10, quota: -1 };
  assert.deepEqual(on({}), { cpu, memory: { limit: 100, swap: 100 } });
  assert.deepEqual(on({ swapLimit: false }), { cpu, memory: { limit: 100 } });
  assert.deepEqual(on({ cgroupMode: 'v2', hugetlb: true }, { unified }), {
    cpu,
    memory: { limit: 100, swap: 100 },
    hugepageLimits: [{ pageSize: '2MB', limit: 1 }],
    unified,
  });
  for (const cgroupMode of ['v1', 'hybrid'] as const)
    assert.throws(() => on({ cgroupMode }, { unified }), /set unified memory\.high: this host has cgroup v1/);
});

test('oom_score_adj is never below the minimum this process may set', () => {
  assert.equal(build().process.oomScoreAdj, -900);
  assert.equal(build({ host: { minimumOomScoreAdj: 0 } }).process.oomScoreAdj, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, errorMessage } from '@podwright/base';
import {
  ContainerConfigSchema,
  create,
  type MessageInitShape,
  MountPropagation,
  NamespaceMode,
  PodSandboxConfigSchema,
  SecurityProfile_ProfileType,
  Signal,
  SupplementalGroupsPolicy,
} from '@podwright/cri';
import type { ContainerSpec, HostConfig } from '../engine/engine-types.ts';
import { containerSpec, type SpecSources } from './container-spec.ts';

type Config = Exclude<MessageInitShape<typeof ContainerConfigSchema>, { $typeName: string }>;
type Linux = NonNullable<Config['linux']>;
type Security = NonNullable<Linux['securityContext']>;

const ID = 'ab'.repeat(32);
const { RuntimeDefault, Unconfined, Localhost } = SecurityProfile_ProfileType;
const SHARED = `container:${ID}`;

function sourcesOf(changes: Partial<SpecSources> = {}): SpecSources {
  const HostConfig = { CgroupParent: '/pod', Runtime: 'runc', UsernsMode: '' };
  const sandbox = { Id: ID, HostConfig } as SpecSources['sandbox'];
  const sandboxConfig = create(PodSandboxConfigSchema, { logDirectory: '/logs/pod' });
  return { sandbox, sandboxConfig, security: { options: [] }, oomScoreAdj: 0, hasCdi: false, ...changes };
}

function specOf(config: Config, sources: Partial<SpecSources> = {}): ContainerSpec {
  const whole = { metadata: { name: 'c' }, image: { image: 'i' }, ...config } as Config;
  return containerSpec(create(ContainerConfigSchema, whole), sourcesOf(sources));
}

/** Asserts the fields of the container's spec that `expected` contains, ignoring all others. */
function check(config: Config, expected: Partial<ContainerSpec>, sources: Partial<SpecSources> = {}): void {
  assert.deepEqual(pick(specOf(config, sources), expected), expected);
}

function checkHost(config: Config, expected: HostConfig, sources: Partial<SpecSources> = {}): void {
  assert.deepEqual(pick(specOf(config, sources).HostConfig, expected), expected);
}

function checkSecurity(securityContext: Security, expected: HostConfig, sources: Partial<SpecSources> = {}): void {
  checkHost({ linux: { securityContext } }, expected, sources);
}

function pick<T extends object>(whole: T, wanted: Partial<T>): Partial<T> {
  return Object.fromEntries(Object.keys(wanted).map((key) => [key, whole[key as keyof T]])) as Partial<T>;
}

function checkRefusal(config: Config, code: string, words: RegExp, sources: Partial<SpecSources> = {}): void {
  assert.throws(
    () => specOf(config, sources),
    (error) => {
      assert.match(errorMessage(error), words);
      assert.equal(errorCode(error), code);
      return true;
    },
  );
}

const security = (securityContext: Security): Config => ({ linux: { securityContext } });
const mount = (mount: NonNullable<Config['mounts']>[number]): Config => ({
  mounts: [{ hostPath: '/h', containerPath: '/c', ...mount } as typeof mount],
});

test('command, arguments and environment override those of the image, but empty lists do not', () => {
  const nothing = { Entrypoint: undefined, Cmd: undefined, WorkingDir: undefined, User: undefined };
  check({}, { Image: 'i', ...nothing, Env: [], Tty: false, OpenStdin: false, Healthcheck: { Test: ['NONE'] } });
  check({ command: ['a'] }, { Entrypoint: ['a'], Cmd: undefined });
  check({ args: ['b', ''] }, { Entrypoint: undefined, Cmd: ['b', ''] });
  check({ envs: [{ key: 'A', value: Buffer.from('b=c') }] }, { Env: ['A=b=c'] });
  check({ stdin: true, stdinOnce: true, tty: true }, { OpenStdin: true, StdinOnce: true, Tty: true });
  check({ workingDir: '/w', stopSignal: Signal.SIGRTMINPLUS3 }, { WorkingDir: '/w', StopSignal: 'SIGRTMIN+3' });
});

test('a container has its sandbox’s namespaces, parent cgroup and OCI runtime', () => {
  const all = { NetworkMode: SHARED, IpcMode: SHARED, PidMode: SHARED, CgroupParent: '/pod', Runtime: 'runc' };
  checkHost({}, { ...all, UTSMode: undefined, UsernsMode: undefined, RestartPolicy: { Name: 'no' } });
  const onHost = { Id: ID, HostConfig: { UsernsMode: 'host' } } as SpecSources['sandbox'];
  checkHost({}, { UsernsMode: 'host' }, { sandbox: onHost });
  const { POD, CONTAINER, NODE, TARGET } = NamespaceMode;
  checkSecurity({ namespaceOptions: { pid: POD } }, { PidMode: SHARED });
  checkSecurity({ namespaceOptions: { pid: CONTAINER } }, { PidMode: '' });
  checkSecurity({ namespaceOptions: { pid: NODE, network: NODE, ipc: NODE } }, { PidMode: 'host', UTSMode: 'host' });
  checkSecurity({ namespaceOptions: { pid: TARGET, targetId: 'x' } }, { PidMode: 'container:x' });
  checkSecurity({ namespaceOptions: { usernsOptions: { mode: NODE } } }, { PidMode: SHARED });
  checkRefusal(security({ namespaceOptions: { pid: TARGET } }), 'invalid_argument', /targetId is empty/);
  const users = { namespaceOptions: { usernsOptions: { mode: POD } } };
  checkRefusal(security(users), 'invalid_argument', /it has a user namespace, but its sandbox/);
  const sandboxConfig = create(PodSandboxConfigSchema, { linux: { securityContext: users } });
  checkSecurity(users, { PidMode: SHARED }, { sandboxConfig });
});

test('CRI fields without an Engine equivalent are stored in labels that a client’s labels cannot override', () => {
  const { Labels } = specOf({
    labels: { a: 'b', 'io.kubernetes.docker.type': 'podsandbox' },
    annotations: { c: 'd' },
    logPath: 'c/0.log',
  });
  const details = JSON.stringify({ labels: ['a', 'io.kubernetes.docker.type'], annotations: ['c'] });
  assert.deepEqual(Labels, {
    a: 'b',
    'annotation.c': 'd',
    'io.kubernetes.docker.type': 'container',
    'io.kubernetes.sandbox.id': ID,
    'io.kubernetes.container.logpath': '/logs/pod/c/0.log',
    'io.podwright.details': details,
  });
  for (const logPath of ['../0.log', '/../../etc/x', 'a/..', 'a/../..', 'a/'])
    checkRefusal({ logPath }, 'invalid_argument', /leads out of/);
});

test('users, groups and capabilities are translated', () => {
  check(security({ runAsUser: { value: 0n } }), { User: '0' });
  check(security({ runAsUser: { value: 7n }, runAsGroup: { value: 8n } }), { User: '7:8' });
  check(security({ runAsUsername: 'web' }), { User: 'web' });
  check(security({ runAsUsername: 'web', runAsGroup: { value: 8n } }), { User: 'web:8' });
  checkSecurity({ supplementalGroups: [1n, 2n] }, { GroupAdd: ['1', '2'] });
  const capabilities = { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] };
  checkSecurity({ capabilities }, { CapAdd: ['NET_ADMIN'], CapDrop: ['ALL'] });
  const Strict = { supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict };
  check(security({ ...Strict, runAsUser: { value: 7n }, runAsGroup: { value: 8n } }), { User: '7:8' });
  checkRefusal(security({ ...Strict, runAsUser: { value: 7n } }), 'unimplemented', /Strict without a runAsGroup/);
  checkRefusal(security({ runAsGroup: { value: 8n } }), 'invalid_argument', /without runAsUser/);
  checkRefusal(security({ runAsUser: { value: -1n } }), 'invalid_argument', /-1 is not an id/);
  checkRefusal(security({ runAsUsername: 'web:0' }), 'invalid_argument', /has a colon/);
  checkRefusal(security({ capabilities: { addAmbientCapabilities: ['KILL'] } }), 'unimplemented', /ambient.*KILL/);
});

test('seccomp, AppArmor and SELinux profiles are translated', () => {
  checkSecurity({}, { SecurityOpt: ['seccomp=unconfined'] });
  checkSecurity({ seccomp: { profileType: RuntimeDefault } }, { SecurityOpt: [] });
  checkSecurity(
    { seccomp: { profileType: Unconfined }, noNewPrivs: true },
    {
      SecurityOpt: ['seccomp=unconfined', 'no-new-privileges'],
    },
  );
  const file = { seccomp: { profileType: Localhost, localhostRef: '/p.json' } };
  checkSecurity(file, { SecurityOpt: ['seccomp={}'] }, { security: { options: [], seccompProfile: '{}' } });
  const apparmor = {
    seccomp: { profileType: RuntimeDefault },
    apparmor: { profileType: Localhost, localhostRef: 'p' },
  };
  const there = { security: { options: ['name=apparmor', 'name=seccomp,profile=default'] } };
  checkSecurity(apparmor, { SecurityOpt: ['apparmor=p'] }, there);
  checkRefusal(security(apparmor), 'failed_precondition', /profile "p": the Docker host has no AppArmor/);
  const label = { seccomp: { profileType: RuntimeDefault }, selinuxOptions: { type: 't', level: 's0:c1' } };
  checkSecurity(label, { SecurityOpt: ['label=type:t', 'label=level:s0:c1'] });
});

test('masked paths come from the request, and a privileged container needs a privileged sandbox', () => {
  checkSecurity({}, { MaskedPaths: [], ReadonlyPaths: [], Privileged: false });
  checkSecurity({ maskedPaths: ['/m'], readonlyPaths: ['/r'] }, { MaskedPaths: ['/m'], ReadonlyPaths: ['/r'] });
  checkSecurity({ readonlyRootfs: true }, { ReadonlyRootfs: true });
  const sandboxConfig = create(PodSandboxConfigSchema, { linux: { securityContext: { privileged: true } } });
  const privileged = { Privileged: true, SecurityOpt: [], MaskedPaths: undefined, ReadonlyPaths: undefined };
  checkSecurity({ privileged: true, maskedPaths: ['/m'] }, privileged, { sandboxConfig });
  checkRefusal(security({ privileged: true }), 'invalid_argument', /was not asked to allow that/);
});

test('mounts are translated, and those Docker does not support are rejected', () => {
  const plain = { Type: 'bind', Source: '/h', Target: '/c', ReadOnly: false } as const;
  checkHost(mount({}), { Mounts: [plain], Binds: undefined });
  checkHost(mount({ readonly: true }), { Mounts: [{ ...plain, ReadOnly: true }] });
  const { PROPAGATION_HOST_TO_CONTAINER, PROPAGATION_BIDIRECTIONAL } = MountPropagation;
  for (const [propagation, word] of [
    [PROPAGATION_HOST_TO_CONTAINER, 'rslave'],
    [PROPAGATION_BIDIRECTIONAL, 'rshared'],
  ] as const)
    checkHost(mount({ propagation }), { Mounts: [{ ...plain, BindOptions: { Propagation: word } }] });
  checkRefusal(mount({ readonly: true, recursiveReadOnly: true }), 'failed_precondition', /recursively read-only/);
  checkRefusal(mount({ image: { image: 'x' }, hostPath: '' }), 'unimplemented', /an image as a volume \(mount \/c\)/);
  checkRefusal(mount({ hostPath: 'h' }), 'invalid_argument', /hostPath "h" is not an absolute path/);
  checkRefusal(mount({ uidMappings: [{ length: 1 }] }), 'unimplemented', /ID mappings/);
  checkRefusal(mount({ propagation: 9 as never }), 'invalid_argument', /propagation 9 is unknown/);
});

test("a container has its own hosts and resolv.conf, or its pod's if the Engine does not write them", () => {
  const given = { networkFiles: '/state/sandboxes/x' };
  const file = (name: string) => ({ Type: 'bind', Source: `/state/sandboxes/x/${name}`, Target: `/etc/${name}` });
  const both = (ReadOnly: boolean) =>
    ['hostname', 'hosts', 'resolv.conf'].map((name) => ({ ...file(name), ReadOnly }) as const);
  checkHost({}, { Mounts: both(false) as HostConfig['Mounts'] }, given);
  checkHost(security({ readonlyRootfs: true }), { Mounts: both(true) as HostConfig['Mounts'] }, given);
  const own = mount({ containerPath: '/etc//hosts/' });
  const { Mounts } = specOf(own, given).HostConfig;
  assert.deepEqual(
    Mounts!.map(({ Source, Target }) => [Source, Target]),
    [
      ['/h', '/etc//hosts/'],
      ['/state/sandboxes/x/hostname', '/etc/hostname'],
      ['/state/sandboxes/x/resolv.conf', '/etc/resolv.conf'],
    ],
  );
});

test('a volume is relabeled for a pod with its own SELinux label, if the Engine supports SELinux', () => {
  const relabelled = { ...mount({ selinuxRelabel: true, readonly: true }), linux: {} };
  const marked = { ...relabelled, ...security({ selinuxOptions: { level: 's0:c1' } }) };
  const there = { security: { options: ['name=selinux'] } };
  checkHost(marked, { Mounts: [], Binds: ['/h:/c:ro,Z'] }, there);
  checkHost(marked, { Binds: undefined });
  checkHost(relabelled, { Binds: undefined }, there);
  const colon = { ...marked, ...mount({ selinuxRelabel: true, hostPath: '/a:b' }) };
  checkRefusal(colon, 'invalid_argument', /cannot give "\/a:b" an SELinux label/, there);
  const files = ['hostname', 'hosts', 'resolv.conf'].map((name) => `/x/${name}:/etc/${name}:rw,z`);
  const plain = { Type: 'bind', Source: '/h', Target: '/c', ReadOnly: false } as const;
  checkHost(mount({}), { Mounts: [plain], Binds: files }, { ...there, networkFiles: '/x' });
  const refused = { ...there, networkFiles: '/a:b' }; // without the label, name resolution would fail without an error
  checkRefusal(
    {},
    'invalid_argument',
    /cannot give "\/a:b\/hostname" an SELinux label, because the path has a colon/,
    refused,
  );
});

test('devices are translated', () => {
  const device = { PathOnHost: '/dev/a', PathInContainer: '/dev/b', CgroupPermissions: 'r' };
  checkHost({ devices: [{ hostPath: '/dev/a', containerPath: '/dev/b', permissions: 'r' }] }, { Devices: [device] });
  const same = { PathOnHost: '/dev/a', PathInContainer: '/dev/a', CgroupPermissions: 'rwm' };
  checkHost({ devices: [{ hostPath: '/dev/a' }] }, { Devices: [same] });
  checkRefusal({ devices: [{ hostPath: '/dev/a', permissions: 'x' }] }, 'invalid_argument', /must consist of r, w, m/);
  const cdi = { CDIDevices: [{ name: 'vendor.com/gpu=0' }] };
  checkRefusal(cdi, 'unimplemented', /CDI devices \(vendor.com\/gpu=0\): Docker Engine 25 or later can/);
  checkHost(cdi, { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['vendor.com/gpu=0'] }] }, { hasCdi: true });
});

test('a memory limit sets the swap limit, and settings sent by every kubelet but unsupported by Docker are ignored', () => {
  const resources = (resources: NonNullable<Linux['resources']>): Config => ({ linux: { resources } });
  const none = { Memory: undefined, MemorySwap: undefined, CpuShares: undefined, CpuQuota: undefined };
  checkHost(resources({}), none);
  checkHost(resources({ memoryLimitInBytes: -1n }), none);
  checkHost(resources({ memoryLimitInBytes: 10n }), { Memory: 10, MemorySwap: 10 });
  checkHost(resources({ memoryLimitInBytes: 10n, memorySwapLimitInBytes: 15n }), { Memory: 10, MemorySwap: 15 });
  checkHost(resources({ memoryLimitInBytes: 10n, memorySwapLimitInBytes: -1n }), { MemorySwap: -1 });
  checkHost(resources({ cpuShares: 2n, cpuQuota: -1n, cpuPeriod: 3n }), { CpuShares: 2, CpuQuota: -1, CpuPeriod: 3 });
  checkHost(resources({ cpusetCpus: '0-1', cpusetMems: '0' }), { CpusetCpus: '0-1', CpusetMems: '0' });
  const usual = { hugepageLimits: [{ pageSize: '2MB', limit: 0n }], unified: { 'memory.oom.group': '1' } };
  checkHost(resources(usual), none);
  checkHost({}, { OomScoreAdj: -3 }, { oomScoreAdj: -3 });
  checkRefusal(resources({ unified: { 'memory.high': '1' } }), 'unimplemented', /unified: "memory.high"/);
  const less = { memoryLimitInBytes: 10n, memorySwapLimitInBytes: 5n };
  checkRefusal(resources(less), 'invalid_argument', /is less than memoryLimitInBytes 10/);
});

test('text that the Engine would truncate or misinterpret is rejected', () => {
  checkRefusal({ image: { image: '' } }, 'invalid_argument', /has no image/);
  checkRefusal({ command: ['a\0b'] }, 'invalid_argument', /zero byte/);
  checkRefusal({ workingDir: 'w' }, 'invalid_argument', /workingDir "w" is not an absolute path/);
  for (const key of ['', 'A=B']) checkRefusal({ envs: [{ key }] }, 'invalid_argument', /is not a valid variable name/);
});

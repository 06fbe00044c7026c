import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape, NamespaceMode, PodSandboxConfigSchema, Protocol } from '@podwright/cri';
import { criMarks } from '../labels/labels.ts';
import { decodeDetails } from './sandbox-details.ts';
import { dockerCgroupParent, requireMetadata, sandboxName, sandboxSpec } from './sandbox-spec.ts';

type Init = MessageInitShape<typeof PodSandboxConfigSchema>;
const metadata = { name: 'web', namespace: 'shop', uid: 'u-1', attempt: 3 };
const configOf = (more: Init = {}) => create(PodSandboxConfigSchema, { metadata, ...(more as object) });
const details = { createdAtNs: 1_700_000_000_123_000_000n, runtimeHandler: 'runc' };
const input = {
  image: 'pause',
  details,
  networkMode: 'none',
  oomScoreAdj: -998,
  securityOptions: ['no-new-privileges'],
};
const specOf = (more: Init = {}, networkMode = 'none') => sandboxSpec(configOf(more), { ...input, networkMode });
const secured = (securityContext: NonNullable<Init['linux']>['securityContext']): Init => ({
  linux: { securityContext },
});

test('a sandbox has the same name and labels as upstream’s dockershim', () => {
  const labels = { app: 'x', 'io.kubernetes.container.name': 'sneaky', 'io.kubernetes.docker.type': 'container' };
  const spec = specOf({ labels, annotations: { 'a/b': 'c' }, hostname: 'web-1' });
  assert.equal(sandboxName(requireMetadata(configOf())), 'k8s_POD_web_shop_u-1_3');
  assert.equal(spec.Hostname, 'web-1');
  assert.equal(spec.Labels['io.kubernetes.docker.type'], 'podsandbox');
  assert.equal(spec.Labels['io.kubernetes.container.name'], 'POD');
  assert.deepEqual(criMarks(spec.Labels), { labels: { app: 'x' }, annotations: { 'a/b': 'c' } });
  assert.deepEqual(decodeDetails(spec.Labels), details);
  for (const text of [
    '',
    '{',
    '{}',
    '{"createdAtNs":5,"runtimeHandler":""}',
    '{"createdAtNs":"-1","runtimeHandler":""}',
  ])
    assert.equal(decodeDetails({ 'io.podwright.details': text }), undefined);
});

test('the Engine does not set up a pod’s network if a plugin does', () => {
  const onHost = secured({ namespaceOptions: { network: NamespaceMode.NODE } });
  assert.equal(specOf().NetworkDisabled, true);
  assert.equal(specOf(onHost).NetworkDisabled, undefined);
  assert.equal(specOf({}, 'default').NetworkDisabled, undefined);
});

test('namespaces, users and limits are translated for the Engine', () => {
  const check = (more: Init, expected: object) => {
    const { HostConfig, User } = specOf(more);
    const found = Object.fromEntries(Object.keys(expected).map((key) => [key, { User, ...HostConfig }[key as 'User']]));
    assert.deepEqual(found, expected);
  };
  const { NODE, POD, CONTAINER } = NamespaceMode;
  check({}, { NetworkMode: 'none', IpcMode: 'shareable', PidMode: undefined, UsernsMode: undefined, User: undefined });
  check({}, { OomScoreAdj: -998, ShmSize: 64 << 20, CpuShares: 2, ReadonlyRootfs: false });
  check(secured({ namespaceOptions: { network: NODE } }), { NetworkMode: 'host', UsernsMode: 'host' });
  check(secured({ namespaceOptions: { ipc: NODE, pid: NODE } }), { IpcMode: 'host', PidMode: 'host' });
  check(secured({ namespaceOptions: { pid: POD } }), { PidMode: undefined });
  check(secured({ namespaceOptions: { pid: CONTAINER } }), { PidMode: undefined });
  check(secured({ privileged: true, readonlyRootfs: true }), {
    Privileged: undefined,
    ReadonlyRootfs: true,
    UsernsMode: 'host',
  });
  check(secured({ runAsUser: { value: 5n }, runAsGroup: { value: 6n } }), { User: '5:6' });
  check(secured({ supplementalGroups: [7n, 8n] }), { GroupAdd: ['7', '8'] });
  check({ linux: { sysctls: { 'net.core.somaxconn': '9' } } }, { Sysctls: { 'net.core.somaxconn': '9' } });
  check({ linux: { cgroupParent: '/kubepods/pod1' } }, { CgroupParent: '/kubepods/pod1' });
  const dns = { servers: ['10.0.0.10'], searches: ['a.b'], options: ['ndots:5'] };
  check({ dnsConfig: dns }, { Dns: dns.servers, DnsSearch: dns.searches, DnsOptions: dns.options });
});

test('the Engine publishes ports only on its own bridge', () => {
  const portMappings = [
    { protocol: Protocol.TCP, containerPort: 80, hostPort: 8080 },
    { protocol: Protocol.TCP, containerPort: 80, hostPort: 8081, hostIp: '127.0.0.1' },
    { protocol: Protocol.UDP, containerPort: 53, hostPort: 53 },
    { protocol: Protocol.TCP, containerPort: 90 },
  ];
  const bridged = specOf({ portMappings }, 'default');
  assert.deepEqual(bridged.ExposedPorts, { '80/tcp': {}, '53/udp': {} });
  assert.deepEqual(bridged.HostConfig.PortBindings, {
    '80/tcp': [
      { HostIp: '', HostPort: '8080' },
      { HostIp: '127.0.0.1', HostPort: '8081' },
    ],
    '53/udp': [{ HostIp: '', HostPort: '53' }],
  });
  assert.equal(specOf({ portMappings }).HostConfig.PortBindings, undefined);
  const hosted = { portMappings, ...secured({ namespaceOptions: { network: NamespaceMode.NODE } }) };
  assert.equal(specOf(hosted, 'default').HostConfig.PortBindings, undefined);
});

test('a malformed request is refused with field and value', () => {
  const check = (more: Init, message: RegExp) => assert.throws(() => specOf(more, 'default'), { message });
  check(secured({ runAsGroup: { value: 5n } }), /runAsGroup is set without runAsUser/);
  check(secured({ runAsUser: { value: -1n } }), /runAsUser -1 is not an id/);
  check(secured({ supplementalGroupsPolicy: 1 }), /supplementalGroupsPolicy Strict/);
  check(secured({ namespaceOptions: { ipc: 9 as NamespaceMode } }), /namespaceOptions.ipc 9 is unknown/);
  check({ linux: { cgroupParent: '/a/../b' } }, /cgroupParent "\/a\/..\/b" has ".."/);
  check({ dnsConfig: { servers: ['1.1.1.1\nsearch evil'] } }, /contains white space/);
  check({ portMappings: [{ containerPort: 70000, hostPort: 1 }] }, /port 70000 must be from 1 to 65535/);
  check({ portMappings: [{ containerPort: 1, hostPort: 1, hostIp: 'x' }] }, /hostIp "x" of port 1/);
  check(
    { portMappings: [{ containerPort: 1, hostPort: 1, protocol: 7 as Protocol }] },
    /protocol 7 of port 1 is unknown/,
  );
  assert.throws(() => requireMetadata(create(PodSandboxConfigSchema, {})), /has no metadata/);
  assert.throws(() => sandboxName({ ...requireMetadata(configOf()), namespace: 'a_b' }), /'a_b' must be/);
});

test('a systemd slice is passed by name, and a cgroupfs path unchanged', () => {
  assert.equal(dockerCgroupParent('/kubepods.slice/kubepods-pod1.slice'), 'kubepods-pod1.slice');
  assert.equal(dockerCgroupParent('/kubepods/pod1'), '/kubepods/pod1');
});

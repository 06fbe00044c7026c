/** Tests the CRI configurations against Kubernetes 1.36, one fact per line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configsOf, decoded, type Given, type World } from './configs.fixture.ts';
import { fakeNode } from './dependencies.fixture.ts';

/**
 * Expected values by path in `{ sandbox, container }`. `container` is the first container's configuration; 64-bit integers are plain
 * numbers.
 */
type Expected = Record<string, unknown>;

function check(name: string, given: Given, expected: Expected, world: World = {}): void {
  test(name, () => {
    const { pods, errors } = decoded(given);
    assert.deepEqual(errors.map(String), []);
    const configs = configsOf(pods[0]!, world);
    const found = Object.keys(expected).map((path) => [path, plain(at(configs, path))]);
    assert.deepEqual(Object.fromEntries(found), expected);
  });
}

/** Returns the value at a path in the configurations. Well-known path prefixes can be abbreviated. */
function at(value: unknown, path: string): unknown {
  const long = path
    .replace(/^(sandbox|container)\.security/, '$1.linux.securityContext')
    .replace(/^(sandbox|container)\.(resources|sysctls|overhead|cgroupParent)/, '$1.linux.$2')
    .replace('.namespaces', '.linux.securityContext.namespaceOptions');
  return long.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);
}

/** Removes message type names from a CRI configuration, and converts 64-bit integers to numbers. */
function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value, (key, one) =>
    key === '$typeName' ? undefined : typeof one === 'bigint' ? Number(one) : one,
  );
  return JSON.parse(text);
}

const ANNOTATIONS = 'io.kubernetes.container';
const [NODE, POD, CONTAINER, TARGET] = [2, 0, 1, 3];
const [RUNTIME_DEFAULT, UNCONFINED, LOCALHOST] = [0, 1, 2];
const profile = (profileType: number, localhostRef = '') => ({ profileType, localhostRef });

check(
  'an ordinary pod',
  {},
  {
    'sandbox.metadata': { name: 'web', uid: 'u1', namespace: 'shop', attempt: 1 },
    'sandbox.hostname': 'web',
    'sandbox.logDirectory': '/logs/shop_web_u1',
    'sandbox.portMappings': [],
    'sandbox.cgroupParent': '/kubepods/u1',
    'sandbox.sysctls': {},
    'sandbox.namespaces.network': POD,
    'sandbox.namespaces.ipc': POD,
    'sandbox.namespaces.pid': CONTAINER,
    'sandbox.namespaces.usernsOptions': { mode: NODE, uids: [], gids: [] },
    'sandbox.security.seccomp': profile(RUNTIME_DEFAULT),
    'sandbox.security.privileged': false,
    'container.metadata': { name: 'app', attempt: 2 },
    'container.image.image': 'sha256:1',
    'container.image.userSpecifiedImage': 'busybox:1',
    'container.logPath': 'app/2.log',
    'container.security.seccomp': profile(UNCONFINED),
    'container.security.apparmor': undefined,
    'container.security.noNewPrivs': false,
    'container.security.capabilities': undefined,
    'container.security.runAsUser': { value: 0 },
    'container.security.runAsUsername': '',
    'container.resources.cpuShares': 2,
    'container.resources.cpuPeriod': 100_000,
    'container.resources.cpuQuota': 0,
    'container.resources.oomScoreAdj': 1000,
    'container.resources.cpusetCpus': '',
    'container.stopSignal': 0,
    'container.CDIDevices': [],
  },
);
check(
  'labels and annotations of the pod are passed to the sandbox, including CDI annotations',
  { metadata: { labels: { app: 'x' }, annotations: { 'cdi.k8s.io/gpu': 'vendor.com/gpu=0' } } },
  {
    'sandbox.labels': {
      app: 'x',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u1',
      'podwright.dev/kubelet': 'k',
    },
    'sandbox.annotations': { 'cdi.k8s.io/gpu': 'vendor.com/gpu=0' },
    'container.CDIDevices': [],
  },
);
test('annotations contain everything required to stop a container', () => {
  const preStop = { exec: { command: ['stop'] } };
  const container = { lifecycle: { preStop }, ports: [{ containerPort: 80 }], terminationMessagePath: '/end' };
  const { annotations } = configsOf(decoded({ container }).pods[0]!).container;
  assert.equal(annotations[`${ANNOTATIONS}.restartCount`], '2');
  assert.equal(annotations[`${ANNOTATIONS}.terminationMessagePath`], '/end');
  assert.equal(annotations[`${ANNOTATIONS}.terminationMessagePolicy`], 'File');
  assert.equal(annotations['io.kubernetes.pod.terminationGracePeriod'], '30');
  assert.equal(annotations[`${ANNOTATIONS}.preStopHandler`], JSON.stringify(preStop));
  assert.equal(annotations[`${ANNOTATIONS}.ports`], '[{"containerPort":80,"protocol":"TCP"}]');
});

// Names in the generated configurations

check('a host name', { spec: { hostname: 'db' } }, { 'sandbox.hostname': 'db' });
check(
  'a long name is truncated to a DNS label',
  { metadata: { name: `${'a'.repeat(62)}.b` } },
  { 'sandbox.hostname': 'a'.repeat(62) },
);
check('a subdomain', { spec: { hostname: 'db', subdomain: 's' } }, { 'sandbox.hostname': 'db' });
check(
  'a fully qualified name',
  { spec: { subdomain: 's', setHostnameAsFQDN: true } },
  { 'sandbox.hostname': 'web.s.shop.svc.c.local' },
);
check(
  'a fully qualified name without a subdomain is the short one',
  { spec: { setHostnameAsFQDN: true } },
  { 'sandbox.hostname': 'web' },
);
check(
  'a host name that overrides all others',
  { spec: { hostnameOverride: 'db.example.org', hostname: 'x', subdomain: 's' } },
  { 'sandbox.hostname': 'db.example.org' },
);

// Namespaces in the generated configurations

check(
  "the host's network",
  { spec: { hostNetwork: true }, container: { ports: [{ containerPort: 80 }] } },
  {
    'sandbox.namespaces.network': NODE,
    'sandbox.hostname': '',
    'sandbox.portMappings': [{ protocol: 0, containerPort: 80, hostPort: 80, hostIp: '' }],
  },
);
check("the host's PID namespace", { spec: { hostPID: true } }, { 'container.namespaces.pid': NODE });
check("the host's IPC", { spec: { hostIPC: true } }, { 'container.namespaces.ipc': NODE });
check(
  'a PID namespace that containers share',
  { spec: { shareProcessNamespace: true } },
  { 'sandbox.namespaces.pid': POD, 'container.namespaces.pid': POD },
);
check(
  'the PID namespace of another container',
  {},
  { 'container.namespaces.pid': TARGET, 'container.namespaces.targetId': 'c1', 'sandbox.namespaces.pid': CONTAINER },
  { targetId: 'c1' },
);
check(
  'a target in a pod with a shared PID namespace',
  { spec: { shareProcessNamespace: true } },
  { 'container.namespaces.pid': POD, 'container.namespaces.targetId': '' },
  { targetId: 'c1' },
);
const ids = [{ hostId: 131_072, containerId: 0, length: 65_536 }];
check(
  'its own user namespace',
  {
    spec: { hostUsers: false, volumes: [{ name: 'd' }] },
    container: { volumeMounts: [{ name: 'd', mountPath: '/d' }], securityContext: { procMount: 'Unmasked' } },
  },
  {
    'sandbox.namespaces.usernsOptions': { mode: POD, uids: ids, gids: ids },
    'container.namespaces.usernsOptions': { mode: POD, uids: ids, gids: ids },
    'container.mounts.0.uidMappings': ids,
    'container.mounts.0.gidMappings': ids,
    'container.security.maskedPaths': [],
    'container.security.readonlyPaths': [],
  },
  { users: { firstId: 131_072, length: 65_536 } },
);

// Security contexts

check(
  'a privileged container',
  { container: { securityContext: { privileged: true } } },
  { 'sandbox.security.privileged': true, 'container.security.privileged': true },
);
check(
  'the user of the image by number',
  {},
  { 'container.security.runAsUser': { value: 5 }, 'container.security.runAsUsername': '' },
  { user: { uid: 5n } },
);
check(
  'the user of the image by name',
  {},
  { 'container.security.runAsUser': undefined, 'container.security.runAsUsername': 'web' },
  { user: { username: 'web' } },
);
check(
  'user and group of the pod',
  { spec: { securityContext: { runAsUser: 7, runAsGroup: 8 } } },
  {
    'sandbox.security.runAsUser': { value: 7 },
    'sandbox.security.runAsGroup': { value: 8 },
    'container.security.runAsUser': { value: 7 },
    'container.security.runAsGroup': { value: 8 },
    'container.security.runAsUsername': '',
  },
  { user: { username: 'web' } },
);
check(
  'a group without a user is not set on the sandbox, because runtimes reject it',
  { spec: { securityContext: { runAsGroup: 8 } } },
  { 'sandbox.security.runAsGroup': undefined, 'container.security.runAsGroup': { value: 8 } },
);
check(
  'groups',
  { spec: { securityContext: { fsGroup: 3, supplementalGroups: [4, 5], supplementalGroupsPolicy: 'Strict' } } },
  {
    'sandbox.security.supplementalGroups': [3, 4, 5],
    'sandbox.security.supplementalGroupsPolicy': 1,
    'container.security.supplementalGroups': [3, 4, 5],
    'container.security.supplementalGroupsPolicy': 1,
  },
);
check(
  'capabilities',
  { container: { securityContext: { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } } } },
  {
    'container.security.capabilities.addCapabilities': ['NET_ADMIN'],
    'container.security.capabilities.dropCapabilities': ['ALL'],
  },
);
const ADDED = 'container.security.capabilities.addCapabilities';
const DROPPED = 'container.security.capabilities.dropCapabilities';
const noNetRaw = { netRawDefault: false };
const withCapabilities = (capabilities: object) => ({ container: { securityContext: { capabilities } } });
check('no NET_RAW by default', {}, { [ADDED]: [], [DROPPED]: ['NET_RAW'] }, noNetRaw);
check(
  'no NET_RAW in addition to other capabilities',
  withCapabilities({ add: ['NET_ADMIN'], drop: ['CHOWN'] }),
  { [ADDED]: ['NET_ADMIN'], [DROPPED]: ['CHOWN', 'NET_RAW'] },
  noNetRaw,
);
for (const name of ['NET_RAW', 'CAP_NET_RAW', 'ALL'])
  check(
    `${name} despite the default`,
    withCapabilities({ add: [name], drop: ['CHOWN'] }),
    { [ADDED]: [name], [DROPPED]: ['CHOWN'] },
    noNetRaw,
  );
check(
  'everything for privileged containers',
  { container: { securityContext: { privileged: true } } },
  {
    'container.security.capabilities': undefined,
    'container.security.privileged': true,
    'sandbox.security.privileged': true,
  },
  noNetRaw,
);
check(
  'no new privileges and a read-only root',
  { container: { securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true } } },
  { 'container.security.noNewPrivs': true, 'container.security.readonlyRootfs': true },
);
check('seccomp by default', {}, { 'container.security.seccomp': profile(RUNTIME_DEFAULT) }, { seccompDefault: true });
check(
  'seccomp off despite the default',
  { spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } } },
  { 'container.security.seccomp': profile(UNCONFINED), 'sandbox.security.seccomp': profile(RUNTIME_DEFAULT) },
  { seccompDefault: true },
);
check(
  "a localhost seccomp profile, which overrides the pod's",
  {
    spec: { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
    container: { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'p/a.json' } } },
  },
  { 'container.security.seccomp': profile(LOCALHOST, '/root/seccomp/p/a.json') },
);
check(
  'an AppArmor profile of the pod',
  { spec: { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } } },
  {
    'container.security.apparmor': profile(RUNTIME_DEFAULT),
    'container.security.apparmorProfile': 'runtime/default',
  },
);
const apparmor = (value: string) => ({ annotations: { 'container.apparmor.security.beta.kubernetes.io/app': value } });
check(
  "an AppArmor annotation overrides the pod's profile",
  { metadata: apparmor('localhost/p'), spec: { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } } },
  { 'container.security.apparmor': profile(LOCALHOST, 'p'), 'container.security.apparmorProfile': 'localhost/p' },
);
check(
  "a container's AppArmor profile overrides its annotation",
  { metadata: apparmor('localhost/p'), container: { securityContext: { appArmorProfile: { type: 'Unconfined' } } } },
  { 'container.security.apparmor': profile(UNCONFINED), 'container.security.apparmorProfile': 'unconfined' },
);
check(
  'an invalid AppArmor annotation is ignored',
  { metadata: apparmor('nonsense') },
  { 'container.security.apparmor': undefined, 'container.security.apparmorProfile': '' },
);
check(
  'SELinux options, and relabelling of a volume of the kubelet',
  {
    spec: { securityContext: { seLinuxOptions: { level: 's0:c1' } }, volumes: [{ name: 'd' }] },
    container: { volumeMounts: [{ name: 'd', mountPath: '/d' }] },
  },
  {
    'sandbox.security.selinuxOptions': { user: '', role: '', type: '', level: 's0:c1' },
    'container.security.selinuxOptions': { user: '', role: '', type: '', level: 's0:c1' },
    'container.mounts.0.selinuxRelabel': true,
  },
  { node: fakeNode({ selinux: true }) },
);
check(
  "a container's SELinux options override its pod's, and a hostPath volume is not relabelled",
  {
    spec: {
      securityContext: { seLinuxOptions: { level: 's0:c1' } },
      volumes: [{ name: 'd', hostPath: { path: '/srv' } }],
    },
    container: {
      securityContext: { seLinuxOptions: { type: 'x_t' } },
      volumeMounts: [{ name: 'd', mountPath: '/d' }],
    },
  },
  {
    'container.security.selinuxOptions': { user: '', role: '', type: 'x_t', level: '' },
    'container.mounts.0.selinuxRelabel': false,
  },
  { node: fakeNode({ selinux: true }) },
);
test('the host’s thermal throttle directories are masked', () => {
  const throttleDirectories = ['/sys/devices/system/cpu/cpu0/thermal_throttle'];
  const { container } = configsOf(decoded({}).pods[0]!, { node: fakeNode({ throttleDirectories }) });
  const { maskedPaths, readonlyPaths } = container.linux!.securityContext!;
  assert.equal(maskedPaths.length, 13);
  assert.equal(maskedPaths.at(-1), throttleDirectories[0]);
  assert.deepEqual(readonlyPaths, ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']);
});
check(
  'sysctls with slashes, and an interface name with a dot',
  {
    spec: {
      securityContext: {
        sysctls: [
          { name: 'net/ipv4/conf/eth0.1/rp_filter', value: '1' },
          { name: 'kernel.shm_rmid_forced', value: '1' },
        ],
      },
    },
  },
  { 'sandbox.sysctls': { 'net.ipv4.conf.eth0/1.rp_filter': '1', 'kernel.shm_rmid_forced': '1' } },
);

// Ports and DNS

check(
  'ports',
  {
    container: {
      ports: [
        { containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    },
  },
  {
    'sandbox.portMappings': [
      { protocol: 0, containerPort: 80, hostPort: 8080, hostIp: '127.0.0.1' },
      { protocol: 1, containerPort: 53, hostPort: 0, hostIp: '' },
    ],
  },
);
check(
  "the host's DNS without a cluster DNS",
  {},
  { 'sandbox.dnsConfig': { servers: ['192.0.2.53'], searches: ['example.org'], options: [] } },
);
check(
  "the cluster's DNS",
  {},
  {
    'sandbox.dnsConfig': {
      servers: ['10.96.0.10'],
      searches: ['shop.svc.c.local', 'svc.c.local', 'c.local', 'example.org'],
      options: ['ndots:5'],
    },
  },
  { clusterDns: ['10.96.0.10'] },
);
check(
  'its own DNS configuration',
  { spec: { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'], options: [{ name: 'rotate' }] } } },
  { 'sandbox.dnsConfig': { servers: ['1.1.1.1'], searches: [], options: ['rotate'] } },
);

// CPU, memory and oom_score_adj

check(
  'a guaranteed pod',
  { container: { resources: { limits: { cpu: '500m', memory: '64Mi' } } } },
  {
    'container.resources.cpuShares': 512,
    'container.resources.cpuQuota': 50_000,
    'container.resources.memoryLimitInBytes': 64 << 20,
    'container.resources.oomScoreAdj': -997,
    'sandbox.resources.cpuQuota': 50_000,
    'sandbox.resources.memoryLimitInBytes': 64 << 20,
    'sandbox.overhead.cpuShares': 0,
  },
);
check(
  'the minimum share and quota',
  { container: { resources: { requests: { cpu: '1m' }, limits: { cpu: '1m' } } } },
  { 'container.resources.cpuShares': 2, 'container.resources.cpuQuota': 1000 },
);
check(
  'a sandbox has the sum of the limits',
  {
    spec: {
      containers: [
        { name: 'app', image: 'i', resources: { limits: { cpu: '1', memory: '1Mi' } } },
        { name: 'open', image: 'i', resources: { requests: { cpu: '1' } } },
      ],
    },
  },
  {
    'sandbox.resources.cpuShares': 2048,
    'sandbox.resources.cpuQuota': 100_000,
    'sandbox.resources.memoryLimitInBytes': 1 << 20,
  },
);
check(
  'overhead',
  { spec: { overhead: { cpu: '250m', memory: '1Mi' } } },
  {
    'sandbox.overhead.cpuShares': 256,
    'sandbox.overhead.cpuQuota': 25_000,
    'sandbox.overhead.memoryLimitInBytes': 1 << 20,
    'sandbox.resources.cpuShares': 2,
  },
);
check(
  'huge pages',
  { container: { resources: { limits: { cpu: '1', 'hugepages-2Mi': '4Mi' } } } },
  {
    'container.resources.hugepageLimits': [
      { pageSize: '1GB', limit: 0 },
      { pageSize: '2MB', limit: 4 << 20 },
    ],
  },
  { node: fakeNode({ hugePageSizes: ['1GB', '2MB'] }) },
);
check(
  'cgroup v2: killed as a group, no swap',
  {},
  { 'container.resources.unified': { 'memory.oom.group': '1', 'memory.swap.max': '0' } },
  { node: fakeNode({ cgroupV2: true, countsSwap: true }) },
);
check(
  'cgroup v1: no more swap than memory',
  { container: { resources: { limits: { memory: '64Mi' } } } },
  { 'container.resources.memorySwapLimitInBytes': 64 << 20, 'container.resources.unified': {} },
  { node: fakeNode({ countsSwap: true }) },
);
check(
  'a node-critical pod',
  { spec: { priorityClassName: 'system-node-critical' } },
  { 'container.resources.oomScoreAdj': -997 },
);

// Mounts, terminals and stop signals

check(
  'mounts',
  {
    spec: {
      volumes: [
        { name: 'd', emptyDir: {} },
        { name: 'c', configMap: { name: 'c' } },
      ],
    },
    container: {
      securityContext: { privileged: true },
      volumeMounts: [
        { name: 'd', mountPath: '/d', mountPropagation: 'Bidirectional' },
        { name: 'c', mountPath: 'c' },
        { name: 'd', mountPath: '/r', readOnly: true, recursiveReadOnly: 'IfPossible' },
      ],
    },
  },
  {
    'container.mounts.0.propagation': 2,
    'container.mounts.0.readonly': false,
    'container.mounts.0.selinuxRelabel': false,
    'container.mounts.1.containerPath': '/c',
    'container.mounts.1.readonly': true,
    'container.mounts.1.propagation': 0,
    'container.mounts.2.recursiveReadOnly': true,
  },
);
check(
  'a terminal and standard input',
  { container: { tty: true, stdin: true, stdinOnce: true, workingDir: '/w' } },
  { 'container.tty': true, 'container.stdin': true, 'container.stdinOnce': true, 'container.workingDir': '/w' },
);
check(
  'a stop signal',
  { spec: { os: { name: 'linux' } }, container: { lifecycle: { stopSignal: 'SIGRTMAX-1' } } },
  { 'container.stopSignal': 64 },
);

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { KubeletOptions } from '@podwright/kubelet';
import { parseCommandLine } from '@podwright/kubelet-configuration';
import type { ConfigFlags } from '../settings/config-flags.ts';
import { kubeletOptionsOf, UPSTREAM_DEFAULTS } from './kubelet-options.ts';
import { kubeletSettings } from './kubelet-settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-settings-'));
after(() => rmSync(directory, { recursive: true }));
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfailCgroupV1: false\n';

function file(name: string, text: string): string {
  mkdirSync(join(directory, name, '..'), { recursive: true });
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

type Line = { flags?: ConfigFlags; args?: string[]; dropIns?: string };

async function optionsOf({ flags = {}, args = [], dropIns }: Line): Promise<KubeletOptions> {
  const { given } = parseCommandLine(args, []);
  const own = { root: join(directory, 'root'), state: join(directory, 'state'), ...flags };
  const { config, configure } = await kubeletSettings({ flags: own, given, dropIns });
  const node = { runtimeEndpoint: '/runtime', criApiVersion: 'auto' as const };
  return configure(kubeletOptionsOf(config, { ...node, defaults: UPSTREAM_DEFAULTS }));
}

test('the content distinguishes our configuration file from a KubeletConfiguration', async () => {
  const ours = await optionsOf({ flags: { config: file('config', '[kubelet]\nmax_pods = 7\n') } });
  assert.deepEqual([ours.maxPods, ours.images.serializePulls, ours.warnOfMissingClusterDns], [7, false, false]);
  const upstreams = await optionsOf({ flags: { config: file('config', `${HEAD}maxPods: 8\n`) } });
  assert.deepEqual(
    [upstreams.maxPods, upstreams.images.serializePulls, upstreams.warnOfMissingClusterDns],
    [8, true, true],
  );
  assert.equal(upstreams.requirements.noSwap, true);
  assert.equal(upstreams.runtimeEndpoint, 'unix:///run/containerd/containerd.sock');
});

test('flags override drop-ins, and drop-ins override the file, in name order', async () => {
  const config = file('kubelet.yaml', `${HEAD}maxPods: 1\nsyncFrequency: 1s\nregistryBurst: 1\nclusterDomain: one\n`);
  file('drop-ins/20-b.conf', `${HEAD}syncFrequency: 3s\n`);
  file('drop-ins/10-a.conf', `${HEAD}syncFrequency: 2s\nregistryBurst: 2\n`);
  file('drop-ins/15/x.conf', `${HEAD}clusterDomain: null\nregistryBurst: 3\n`);
  file('drop-ins/README.md', 'not a configuration');
  const dropIns = join(directory, 'drop-ins');
  const options = await optionsOf({ flags: { config }, dropIns, args: ['--registry-burst=4'] });
  assert.deepEqual(
    [options.maxPods, options.resyncPeriodMs, options.images.registryBurst, options.clusterDomain],
    [1, 3000, 4, ''],
  );
});

test('drop-ins work without a file, but not with our own file', async () => {
  const dropIns = join(file('alone/x.conf', `${HEAD}maxPods: 9\n`), '..');
  assert.equal((await optionsOf({ dropIns })).maxPods, 9);
  const config = file('ours.toml', 'log_level = "warn"\n');
  await assert.rejects(optionsOf({ flags: { config }, dropIns }), /--config-dir holds parts of a KubeletConfiguration/);
  await assert.rejects(optionsOf({ dropIns: join(directory, 'none') }), { code: 'invalid_argument' });
});

test('flags also override our own file', async () => {
  const config = file(
    'ours.toml',
    '[kubelet]\nmax_pods = 7\ncluster_domain = "a"\n[kubelet.system_reserved]\nmemory = "1Gi"\n',
  );
  const options = await optionsOf({ flags: { config }, args: ['--max-pods=6', '--kube-reserved=memory=1Gi,cpu=500m'] });
  assert.deepEqual([options.maxPods, options.clusterDomain], [6, 'a']);
  assert.deepEqual(options.systemReserved, {
    memoryBytes: 2 * 2 ** 30,
    pids: 0,
    cpuMillis: 500,
    ephemeralStorageBytes: 0,
  });
});

test('log symlinks are in /var/log/containers unless the configuration moves the logs', async () => {
  const linksOf = async (flags: ConfigFlags) => (await optionsOf({ flags })).containerLogsDir;
  const upstreams = file('moved.yaml', `${HEAD}podLogsDir: /l\n`);
  assert.equal(await linksOf({}), '/var/log/containers');
  assert.equal(await linksOf({ config: upstreams }), '/var/log/containers');
  assert.equal(await linksOf({ podLogs: '/logs' }), '');
  assert.equal(await linksOf({ config: upstreams, podLogs: '/logs' }), '');
  assert.equal(await linksOf({ config: file('moved.toml', 'pod_logs = "/logs"\n') }), '');
  const given = file('given.toml', 'container_logs = "/links"\n');
  assert.equal(await linksOf({ config: given, podLogs: '/logs' }), '/links');
  assert.equal(await linksOf({ config: file('none.toml', 'container_logs = ""\n') }), '');
});

type Change = [field: string, flag: string, read: (options: KubeletOptions) => unknown, expected: unknown];

/**
 * The KubeletConfiguration fields that set an option. For each: a value, the equivalent flag if there is one, a function that reads the
 * option, and the option's expected value.
 */
const CHANGES: Change[] = [
  ['staticPodPath: /m', '--pod-manifest-path=/m', (of) => of.manifestDir, '/m'],
  ['staticPodURL: http://x/', '--manifest-url=http://x/', (of) => of.manifestUrl, 'http://x/'],
  ['staticPodURLHeader: {a: [b]}', '--manifest-url-header=a:b', (of) => of.manifestUrlHeaders, { a: ['b'] }],
  ['syncFrequency: 2s', '--sync-frequency=2s', (of) => of.resyncPeriodMs, 2000],
  ['fileCheckFrequency: 2s', '--file-check-frequency=2s', (of) => of.sourcePeriods.fileMs, 2000],
  ['httpCheckFrequency: 2s', '--http-check-frequency=2s', (of) => of.sourcePeriods.urlMs, 2000],
  ['clusterDomain: x', '--cluster-domain=x', (of) => of.clusterDomain, 'x'],
  ['clusterDNS: [10.0.0.1]', '--cluster-dns=10.0.0.1', (of) => of.clusterDns, ['10.0.0.1']],
  ['resolvConf: /r', '--resolv-conf=/r', (of) => of.resolvConf, '/r'],
  ['podCIDR: 10.9.0.0/16', '--pod-cidr=10.9.0.0/16', (of) => of.podCidr, '10.9.0.0/16'],
  ['podLogsDir: /l', '', (of) => of.podLogsDir, '/l'],
  ['containerLogMaxSize: 1Mi', '--container-log-max-size=1Mi', (of) => of.containerLog.maxSizeBytes, 1 << 20],
  ['containerLogMaxFiles: 3', '--container-log-max-files=3', (of) => of.containerLog.maxFiles, 3],
  ['containerLogMaxWorkers: 3', '', (of) => of.containerLog.maxWorkers, 3],
  ['containerLogMonitorInterval: 3s', '', (of) => of.containerLog.monitorPeriodMs, 3000],
  [
    'crashLoopBackOff: {maxContainerRestartPeriod: 3s}',
    '',
    (of) => of.crashLoopBackoff,
    { initialMs: 3000, maxMs: 3000 },
  ],
  ['seccompDefault: true', '--seccomp-default', (of) => of.seccompDefault, true],
  [
    'allowedUnsafeSysctls: [kernel.msg*]',
    '--allowed-unsafe-sysctls=kernel.msg*',
    (of) => of.allowedUnsafeSysctls,
    ['kernel.msg*'],
  ],
  ['containerRuntimeEndpoint: /c', '--container-runtime-endpoint=/c', (of) => of.runtimeEndpoint, '/c'],
  ['imageServiceEndpoint: /i', '--image-service-endpoint=/i', (of) => of.imageEndpoint, '/i'],
  ['runtimeRequestTimeout: 3s', '--runtime-request-timeout=3s', (of) => of.runtimeRequestTimeoutMs, 3000],
  ['registryPullQPS: 3', '--registry-qps=3', (of) => of.images.registryPullQps, 3],
  ['registryBurst: 3', '--registry-burst=3', (of) => of.images.registryBurst, 3],
  ['serializeImagePulls: false', '--serialize-image-pulls=false', (of) => of.images.serializePulls, false],
  ['maxParallelImagePulls: 3', '', (of) => [of.images.maxParallelPulls, of.images.serializePulls], [3, false]],
  ['imageMinimumGCAge: 3s', '--minimum-image-ttl-duration=3s', (of) => of.imageGc.minAgeMs, 3000],
  ['imageMaximumGCAge: 3h', '', (of) => of.imageGc.maxAgeMs, 10_800_000],
  ['imageGCHighThresholdPercent: 99', '--image-gc-high-threshold=99', (of) => of.imageGc.highThresholdPercent, 99],
  ['imageGCLowThresholdPercent: 3', '--image-gc-low-threshold=3', (of) => of.imageGc.lowThresholdPercent, 3],
  ['maxPods: 3', '--max-pods=3', (of) => of.maxPods, 3],
  ['podsPerCore: 1', '--pods-per-core=1', (of) => of.maxPods, availableParallelism()],
  ['oomScoreAdj: -3', '--oom-score-adj=-3', (of) => of.oomScoreAdj, -3],
  ['failSwapOn: false', '--fail-swap-on=false', (of) => of.requirements.noSwap, false],
  ['protectKernelDefaults: true', '--protect-kernel-defaults', (of) => of.requirements.kernelDefaults, true],
  ['cgroupRoot: /x', '--cgroup-root=/x', (of) => of.cgroupRoot, '/x'],
  [
    '{cgroupsPerQOS: false, enforceNodeAllocatable: []}',
    '--cgroups-per-qos=false --enforce-node-allocatable=none',
    (of) => of.cgroupRoot,
    '',
  ],
  ['cpuManagerPolicy: static', '--cpu-manager-policy=static', (of) => of.placement.cpu.policy, 'static'],
  [
    '{cpuManagerPolicy: static, cpuManagerPolicyOptions: {full-pcpus-only: "true"}}',
    '--cpu-manager-policy=static --cpu-manager-policy-options=full-pcpus-only=true',
    (of) => of.placement.cpu.options.fullCores,
    true,
  ],
  [
    'cpuManagerReconcilePeriod: 3s',
    '--cpu-manager-reconcile-period=3s',
    (of) => of.placement.cpu.reconcilePeriodMs,
    3000,
  ],
  [
    'reservedSystemCPUs: 0,2-3',
    '--reserved-cpus=0,2-3',
    (of) => [of.placement.cpu.reserved, of.systemReserved.cpuMillis],
    [[0, 2, 3], 3000],
  ],
  [
    '{memoryManagerPolicy: Static, reservedMemory: [{limits: {memory: 1Ki},numaNode: 1}]}',
    '--memory-manager-policy=Static --reserved-memory=1:memory=1Ki',
    (of) => [of.placement.memory.policy, of.placement.memory.reserved],
    ['Static', [{ node: 1, limits: { memory: 1024n } }]],
  ],
  [
    'topologyManagerPolicy: restricted',
    '--topology-manager-policy=restricted',
    (of) => of.placement.topology.policy,
    'restricted',
  ],
  ['topologyManagerScope: pod', '--topology-manager-scope=pod', (of) => of.placement.topology.scope, 'pod'],
  [
    'topologyManagerPolicyOptions: {prefer-closest-numa-nodes: "true"}',
    '--topology-manager-policy-options=prefer-closest-numa-nodes=true',
    (of) => of.placement.topology.options.preferClosest,
    true,
  ],
  ['cgroupDriver: systemd', '--cgroup-driver=systemd', (of) => of.cgroupDriverFallback, 'systemd'],
  [
    'systemReserved: {memory: 1Ki, pid: "3", cpu: "1", ephemeral-storage: 2Ki}',
    '--system-reserved=memory=1Ki,pid=3,cpu=1,ephemeral-storage=2Ki',
    (of) => of.systemReserved,
    { memoryBytes: 1024, pids: 3, cpuMillis: 1000, ephemeralStorageBytes: 2048 },
  ],
  [
    '{enforceNodeAllocatable: [pods,system-reserved,kube-reserved-compressible], systemReservedCgroup: /s, kubeReservedCgroup: /k, systemReserved: {memory: 1Ki}, kubeReserved: {cpu: "1"}}',
    '--enforce-node-allocatable=pods,system-reserved,kube-reserved-compressible --system-reserved-cgroup=/s --kube-reserved-cgroup=/k --system-reserved=memory=1Ki --kube-reserved=cpu=1',
    (of) => of.reservedCgroups,
    [
      { owner: 'System', cgroup: '/s', memoryBytes: 1024, compressibleOnly: false },
      { owner: 'Kube', cgroup: '/k', milliCpu: 1000, compressibleOnly: true },
    ],
  ],
  ['cpuCFSQuota: false', '--cpu-cfs-quota=false', (of) => of.containerResources.cpuCfsQuota, false],
  [
    'cpuCFSQuotaPeriod: 1500us',
    '--cpu-cfs-quota-period=1500us',
    (of) => of.containerResources.cpuCfsQuotaPeriodMicros,
    1500,
  ],
  ['memorySwap: {swapBehavior: LimitedSwap}', '', (of) => of.containerResources.swapBehavior, 'LimitedSwap'],
  ['singleProcessOOMKill: true', '', (of) => of.containerResources.singleProcessOomKill, true],
  [
    '{featureGates: {MemoryQoS: true}, memoryThrottlingFactor: 0.5, memoryReservationPolicy: TieredReservation}',
    '',
    (of) => of.containerResources.memoryQos,
    { throttlingFactor: 0.5, reservation: 'TieredReservation' },
  ],
  ['kubeReserved: {memory: 1Ki}', '--kube-reserved=memory=1Ki', (of) => of.systemReserved.memoryBytes, 1024],
  ['enforceNodeAllocatable: [none]', '--enforce-node-allocatable=none', (of) => of.enforceNodeAllocatable, false],
  ['podPidsLimit: 3', '--pod-max-pids=3', (of) => of.podPidsLimit, 3],
  [
    'tracing: {samplingRatePerMillion: 3}',
    '',
    (of) => of.tracing,
    { endpoint: 'localhost:4317', samplingRatePerMillion: 3 },
  ],
  [
    'tracing: {endpoint: "h:1", samplingRatePerMillion: 1000000}',
    '',
    (of) => of.tracing,
    { endpoint: 'h:1', samplingRatePerMillion: 1_000_000 },
  ],
  ['enableServer: false', '--enable-server=false', (of) => of.server.port, 0],
  ['tlsMinVersion: VersionTLS13', '--tls-min-version=VersionTLS13', (of) => of.server.tls.minVersion, 'VersionTLS13'],
  [
    '{authentication: {anonymous: {enabled: true}}, authorization: {mode: AlwaysAllow}}',
    '--anonymous-auth --authorization-mode=AlwaysAllow',
    (of) => of.server.authentication.anonymous,
    true,
  ],
  [
    'authentication: {x509: {clientCAFile: /ca}}',
    '--client-ca-file=/ca',
    (of) => of.server.authentication.clientCaFile,
    '/ca',
  ],
  ['', '--token-auth-file=/t', (of) => of.server.authentication.tokenFile, '/t'],
  ['address: 127.0.0.1', '--address=127.0.0.1', (of) => of.server.address, '127.0.0.1'],
  ['port: 3', '--port=3', (of) => of.server.port, 3],
  ['readOnlyPort: 3', '--read-only-port=3', (of) => of.server.readOnlyPort, 3],
  ['healthzPort: 0', '--healthz-port=0', (of) => of.server.healthzPort, 0],
  ['healthzBindAddress: "::1"', '--healthz-bind-address=::1', (of) => of.server.healthzBindAddress, '::1'],
  [
    'enableDebuggingHandlers: false',
    '--enable-debugging-handlers=false',
    (of) => of.server.enableDebuggingHandlers,
    false,
  ],
  ['enableProfilingHandler: false', '', (of) => of.server.enableProfilingHandler, false],
  ['enableSystemLogHandler: false', '', (of) => of.server.enableSystemLogHandler, false],
  [
    'streamingConnectionIdleTimeout: 3s',
    '--streaming-connection-idle-timeout=3s',
    (of) => of.server.streamingConnectionIdleTimeoutMs,
    3000,
  ],
  [
    '{tlsCertFile: /c, tlsPrivateKeyFile: /k}',
    '--tls-cert-file=/c --tls-private-key-file=/k',
    (of) => [of.server.tls.certFile, of.server.tls.privateKeyFile],
    ['/c', '/k'],
  ],
  [
    'tlsCipherSuites: [TLS_RSA_WITH_AES_128_CBC_SHA]',
    '--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA',
    (of) => of.server.tls.cipherSuites,
    ['TLS_RSA_WITH_AES_128_CBC_SHA'],
  ],
  ['registerNode: false', '--register-node=false', (of) => of.node.register, false],
  [
    'registerWithTaints: [{key: a, value: b, effect: NoSchedule}]',
    '--register-with-taints=a=b:NoSchedule',
    (of) => of.node.taints,
    [{ key: 'a', value: 'b', effect: 'NoSchedule' }],
  ],
  ['providerID: c://1', '--provider-id=c://1', (of) => of.node.providerId, 'c://1'],
  ['', '--cloud-provider=external', (of) => of.node.externalCloudProvider, true],
  [
    'enableControllerAttachDetach: false',
    '--enable-controller-attach-detach=false',
    (of) => of.node.controllerAttachDetach,
    false,
  ],
  [
    'nodeStatusUpdateFrequency: 3s',
    '--node-status-update-frequency=3s',
    (of) => [of.node.statusUpdateMs, of.node.statusReportMs],
    [3000, 3000],
  ],
  ['nodeStatusReportFrequency: 3s', '', (of) => of.node.statusReportMs, 3000],
  ['nodeLeaseDurationSeconds: 3', '', (of) => of.node.leaseDurationSeconds, 3],
  ['nodeStatusMaxImages: 3', '--node-status-max-images=3', (of) => of.node.maxImages, 3],
  ['userNamespaces: {idsPerPod: 131072}', '', (of) => of.userNamespaceIdsPerPod, 131_072],
  ['', '--feature-gates=MemoryQoS=true', (of) => of.containerResources.memoryQos?.throttlingFactor, 0.9],
  ['', '--root-dir=/k', (of) => [of.rootDir, of.images.dockerConfigPaths[0]], ['/k', '/k/config.json']],
  ['', '--cert-dir=/k', (of) => of.server.tls.certDirectory, '/k'],
  ['', '--hostname-override=Here', (of) => of.nodeName, 'here'],
  ['', '--node-ip=192.0.2.1', (of) => of.nodeIp, '192.0.2.1'],
  ['', '--node-labels=a=b', (of) => of.nodeLabels, { a: 'b' }],
  [
    'evictionHard: {memory.available: 0%}',
    '--eviction-hard=memory.available<0%',
    (of) => of.node.evictionHard,
    { 'memory.available': '0%' },
  ],
  ['evictionHard: {pid.available: 5%}', '', (of) => of.eviction.hard, { 'pid.available': '5%' }],
  [
    'evictionSoft: {pid.available: 9%}\nevictionSoftGracePeriod: {pid.available: 2s}',
    '',
    (of) => [of.eviction.soft, of.eviction.softGracePeriod],
    [{ 'pid.available': '9%' }, { 'pid.available': '2s' }],
  ],
  [
    'evictionHard: {pid.available: 5%}\nmergeDefaultEvictionSettings: true',
    '',
    (of) => [of.eviction.hard!['pid.available'], of.eviction.hard!['memory.available'], of.node.evictionHard],
    [
      '5%',
      '100Mi',
      {
        ...{ 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
        ...{ 'imagefs.available': '15%', 'imagefs.inodesFree': '5%', 'pid.available': '5%' },
      },
    ],
  ],
  ['evictionMinimumReclaim: {pid.available: 1%}', '', (of) => of.eviction.minimumReclaim, { 'pid.available': '1%' }],
  [
    'evictionPressureTransitionPeriod: 3s',
    '--eviction-pressure-transition-period=3s',
    (of) => of.eviction.transitionMs,
    3000,
  ],
  ['evictionMaxPodGracePeriod: 3', '--eviction-max-pod-grace-period=3', (of) => of.eviction.maxPodGraceSeconds, 3],
  ['', '--experimental-allocatable-ignore-eviction', (of) => of.node.evictionHard, {}],
  ['', '--maximum-dead-containers=3', (of) => of.containerGc.maxContainers, 3],
  ['', '--maximum-dead-containers-per-container=3', (of) => of.containerGc.maxPerContainer, 3],
  ['', '--minimum-container-ttl-duration=3s', (of) => of.containerGc.minAgeMs, 3000],
];

test('each supported field and flag sets its option', async () => {
  const before = await optionsOf({ flags: { config: file('before', HEAD) } });
  for (const [field, flag, read, expected] of CHANGES) {
    if (field !== 'failSwapOn: false') assert.notDeepEqual(read(before), expected, field);
    const fields = field.startsWith('{') ? field.slice(1, -1).split(', ').join('\n') : field;
    if (field !== '') {
      const config = file('one', `${HEAD}${fields}\n`);
      assert.deepEqual(read(await optionsOf({ flags: { config } })), expected, field);
    }
    if (flag !== '') assert.deepEqual(read(await optionsOf({ args: flag.split(' ') })), expected, flag);
  }
});

test('callers are reviewed by the API server only if there is a kubeconfig', async () => {
  const reviewsOf = async (args: string[]) => (await optionsOf({ args })).server.authentication;
  const joined = await reviewsOf([
    '--kubeconfig=/k',
    '--anonymous-auth',
    '--authentication-token-webhook-cache-ttl=3s',
  ]);
  assert.deepEqual(
    [joined.anonymous, joined.reviews],
    [true, { tokens: { keptMs: 3000 }, access: { allowedMs: 300_000, deniedMs: 30_000 } }],
  );
  const open = await reviewsOf([
    ...['--kubeconfig=/k', '--authorization-mode=AlwaysAllow', '--authentication-token-webhook=false'],
  ]);
  assert.deepEqual([open.anonymous, open.reviews], [false, {}]);
  const alone = await reviewsOf(['--anonymous-auth']);
  assert.deepEqual([alone.anonymous, alone.reviews], [false, undefined]);
});

test('invalid cluster settings are rejected', async () => {
  const refused = (args: string[], message: RegExp) => assert.rejects(optionsOf({ args }), message);
  await refused(['--bootstrap-kubeconfig=/b'], /--bootstrap-kubeconfig = "\/b": needs --kubeconfig/);
  await refused(['--rotate-server-certificates'], /--rotate-server-certificates = true: needs --kubeconfig/);
  await refused(['--register-with-taints=a=b'], /--register-with-taints: must be a taint with a key/);
  await refused(['--register-with-taints=a b:NoSchedule'], /a b: key and value must be valid as those of labels/);
  await refused(['--cloud-provider=aws'], /--cloud-provider: .*external/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedConfiguration } from './check-configuration.ts';
import { layFields, layFlags } from './given-fields.ts';

const V2 = { cgroupVersion: 'v2' } as const;
const given = (fields: Record<string, unknown>, place = 'c.yaml:3') =>
  new Map(Object.entries(fields).map(([name, value]) => [name, { value, place }]));

const complete = (fields: Record<string, unknown>) => checkedConfiguration(given(fields), V2);

function refuse(fields: Record<string, unknown>, ...messages: string[]): void {
  const expected = `configure the kubelet: ${messages.map((message) => `c.yaml:3: ${message}`).join('\n')}`;
  assert.throws(() => complete(fields), { code: 'invalid_argument', message: expected });
}

test("unset fields have upstream's defaults", () => {
  const { maxPods, port, registryPullQPS, oomScoreAdj, enforceNodeAllocatable, ...rest } = complete({});
  assert.deepEqual([maxPods, port, registryPullQPS, oomScoreAdj], [110, 10250, 5, -999]);
  assert.deepEqual(enforceNodeAllocatable, ['pods']);
  assert.deepEqual([rest['authorization.mode'], rest.serializeImagePulls, rest.podPidsLimit], ['Webhook', true, -1]);
});

test('zero selects the default for fields where upstream cannot distinguish it from unset', () => {
  const { port, registryPullQPS, healthzPort, syncFrequency } = complete({
    port: 0,
    registryPullQPS: 0,
    healthzPort: 0,
    syncFrequency: 0,
  });
  assert.deepEqual([port, registryPullQPS, healthzPort, syncFrequency], [10250, 0, 0, 60_000]);
});

test('some defaults depend on other fields', () => {
  assert.equal(complete({ maxParallelImagePulls: 5 }).serializeImagePulls, false);
  assert.equal(complete({ maxParallelImagePulls: 1 }).serializeImagePulls, true);
  assert.equal(complete({ nodeStatusUpdateFrequency: 5000 }).nodeStatusReportFrequency, 5000);
  assert.equal(complete({ podPidsLimit: -7 }).podPidsLimit, -1);
  assert.equal(complete({ seccompDefaultFlag: true }).seccompDefault, true);
});

test("upstream's validation rules apply", () => {
  refuse({ port: 65_536 }, 'port = 65536: must be between 1 and 65535');
  refuse({ healthzPort: -1 }, 'healthzPort = -1: must be between 0 and 65535');
  refuse({ tlsCertFile: '/c' }, 'tlsCertFile = "/c": must be set together with tlsPrivateKeyFile');
  refuse({ tlsCipherSuites: ['TLS_X'] }, 'tlsCipherSuites = ["TLS_X"]: unknown cipher suite TLS_X');
  refuse({ maxPods: -1 }, 'maxPods = -1: must be at least 0');
  refuse({ oomScoreAdj: 1001 }, 'oomScoreAdj = 1001: must be between -1000 and 1000');
  refuse({ nodeStatusMaxImages: -2 }, 'nodeStatusMaxImages = -2: must be at least -1');
  refuse({ iptablesDropBit: 32 }, 'iptablesDropBit = 32: must be between 0 and 31');
  refuse(
    { imageGCLowThresholdPercent: 90 },
    'imageGCLowThresholdPercent = 90: must be less than imageGCHighThresholdPercent, which is 85',
  );
  refuse(
    { imageMaximumGCAge: 60_000 },
    'imageMaximumGCAge = 1m0s: must be greater than imageMinimumGCAge, which is 2m0s',
  );
  refuse({ maxParallelImagePulls: 0 }, 'maxParallelImagePulls = 0: must be at least 1');
  refuse(
    { maxParallelImagePulls: 2, serializeImagePulls: true },
    'maxParallelImagePulls = 2: must not be larger than 1 while serializeImagePulls is true',
  );
  refuse({ containerLogMaxFiles: 1 }, 'containerLogMaxFiles = 1: must be greater than 1');
  refuse({ containerLogMaxWorkers: 0 }, 'containerLogMaxWorkers = 0: must be at least 1');
  refuse({ containerLogMonitorInterval: 2999 }, 'containerLogMonitorInterval = 2.999s: must be at least 3s');
  refuse({ containerLogMaxSize: 'big' }, 'containerLogMaxSize = "big": must be an amount such as 10Mi');
  for (const directory of ['logs', '/var/log/../pods', '/löge', '/logs/'])
    assert.throws(() => complete({ podLogsDir: directory }), /podLogsDir = .*: must be an absolute path/);
  refuse(
    { 'crashLoopBackOff.maxContainerRestartPeriod': 301_000 },
    'crashLoopBackOff.maxContainerRestartPeriod = 5m1s: must be between 1s and 300s',
  );
  refuse({ enforceNodeAllocatable: ['pods', 'pods'] }, 'enforceNodeAllocatable = ["pods","pods"]: has a duplicate');
  refuse(
    { enforceNodeAllocatable: ['none', 'pods'] },
    'enforceNodeAllocatable = ["none","pods"]: none cannot be combined with other values',
  );
  refuse(
    { systemReserved: { memory: 'much' } },
    'systemReserved = {"memory":"much"}: memory must be an amount such as 500m or 1Gi, got "much"',
  );
  refuse(
    { systemReserved: { disk: '1' } },
    'systemReserved = {"disk":"1"}: cannot reserve disk, only cpu, memory, pid, ephemeral-storage',
  );
  refuse(
    { memoryReservationPolicy: 'TieredReservation' },
    'memoryReservationPolicy = "TieredReservation": TieredReservation needs the feature gate MemoryQoS',
  );
  refuse(
    { cgroupsPerQOS: false, enforceNodeAllocatable: ['pods'] },
    'enforceNodeAllocatable = ["pods"]: needs cgroupsPerQOS; set it to none',
  );
  refuse(
    { nodeLabels: { 'kubernetes.io/role': 'x' } },
    'nodeLabels = {"kubernetes.io/role":"x"}: kubernetes.io/role: a kubelet may not set this label of Kubernetes on its node; it may set labels of kubelet.kubernetes.io, node.kubernetes.io, and kubernetes.io/hostname, topology.kubernetes.io/zone, topology.kubernetes.io/region, failure-domain.beta.kubernetes.io/zone, failure-domain.beta.kubernetes.io/region, beta.kubernetes.io/instance-type, node.kubernetes.io/instance-type, kubernetes.io/os, kubernetes.io/arch, beta.kubernetes.io/os, beta.kubernetes.io/arch',
  );
  refuse({ nodeLabels: { a: 'b c' } }, 'nodeLabels = {"a":"b c"}: b c is not a valid label value');
  refuse(
    { nodeIp: '192.0.2.1,192.0.2.2' },
    'nodeIp = "192.0.2.1,192.0.2.2": must be an IP address, or one of each family separated by a comma',
  );
  refuse(
    { staticPodURL: 'http://user:secret@x/' },
    'staticPodURL = "http://user:secret@x/": must be an http or https URL without user and password',
  );
  refuse(
    { showHiddenMetricsForVersion: '1.30' },
    'showHiddenMetricsForVersion = "1.30": must be the previous version, 1.35',
  );
  refuse({ featureGates: { Nope: true } }, 'featureGates = {"Nope":true}: unknown feature gate Nope');
});

test('shutdown grace periods are validated like upstream', () => {
  const priority = [{ priority: 100, shutdownGracePeriodSeconds: 10 }];
  complete({ shutdownGracePeriod: 30_000, shutdownGracePeriodCriticalPods: 10_000 });
  complete({ shutdownGracePeriodByPodPriority: priority });
  complete({ featureGates: { GracefulNodeShutdown: false } });
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ shutdownGracePeriod: 500 }, /shutdownGracePeriod = 500ms: must be 0 or at least 1s/],
    [{ shutdownGracePeriod: 5000, shutdownGracePeriodCriticalPods: 6000 }, /must be at most shutdownGracePeriod/],
    [{ shutdownGracePeriod: 5000, shutdownGracePeriodCriticalPods: 100 }, /must be 0 or at least 1s/],
    [{ shutdownGracePeriod: 5000, shutdownGracePeriodByPodPriority: priority }, /cannot be combined with/],
    [
      { shutdownGracePeriod: 5000, featureGates: { GracefulNodeShutdown: false } },
      /shutdownGracePeriod = 5s: needs the feature gate GracefulNodeShutdown/,
    ],
  ];
  for (const [fields, expected] of wrong) assert.throws(() => complete(fields), expected);
});

test('CPU, memory and topology policies are validated like upstream', () => {
  complete({ cpuManagerPolicy: 'static', cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } });
  const options = (given: Record<string, string>) => ({ cpuManagerPolicy: 'static', cpuManagerPolicyOptions: given });
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } }, /is for cpuManagerPolicy static/],
    [options({ nope: 'true' }), /there is no option nope; there are full-pcpus-only/],
    [options({ 'full-pcpus-only': 'maybe' }), /full-pcpus-only must be true or false, got maybe/],
    [options({ 'align-by-socket': 'true' }), /align-by-socket needs the feature gate CPUManagerPolicyAlphaOptions/],
    [
      options({ 'distribute-cpus-across-numa': 'true', 'prefer-align-cpus-by-uncorecache': 'true' }),
      /cannot be used at the same time/,
    ],
    [{ cpuManagerReconcilePeriod: -1000 }, /cpuManagerReconcilePeriod.*must be at least 1ms/],
    [{ reservedSystemCPUs: '0,x' }, /must be a list such as 0,2-3/],
    [{ reservedSystemCPUs: '3-1' }, /must be a list such as 0,2-3/],
    [{ topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '4' } }, /must be a number that is at least 8/],
    [{ memoryManagerPolicy: 'Static' }, /must reserve memory if memoryManagerPolicy is Static/],
    [{ reservedMemory: [{ numaNode: 0, limits: { cpu: '1' } }] }, /cannot reserve cpu/],
    [{ reservedMemory: [{ numaNode: 0, limits: { memory: '0' } }] }, /must reserve more than 0 of memory/],
    [
      {
        reservedMemory: [
          { numaNode: 0, limits: { memory: '1' } },
          { numaNode: 0, limits: { memory: '1' } },
        ],
      },
      /has a duplicate/,
    ],
  ];
  for (const [fields, expected] of wrong) assert.throws(() => complete(fields), expected);
});

test('a value that requests an unsupported feature is refused with its field', () => {
  refuse(
    { qosReserved: { memory: '50%' } },
    'qosReserved = {"memory":"50%"}: is refused: requests are not reserved from lower QoS classes; leave it out, or set it to an empty value',
  );
  assert.throws(() => complete({ runOnce: true }), /runOnce = true: is refused/);
  complete({ kubeAPIQPS: 7, hairpinMode: 'none', registerNode: false, rotateCertificates: true });
});

test('eviction thresholds are signals with amounts or percentages, and soft ones require a grace period', () => {
  complete({ evictionHard: { 'memory.available': '0%', 'nodefs.available': '10%', 'pid.available': '100' } });
  const wrong: [Record<string, unknown>, RegExp][] = [
    [
      { evictionHard: { 'memory.available': '0' } },
      /evictionHard = .*: memory\.available: must be an amount of more than 0/,
    ],
    [{ evictionHard: { 'nodefs.free': '10%' } }, /"nodefs\.free" is not an eviction signal, only memory\.available/],
    [{ evictionSoft: { 'memory.available': '1Gi' } }, /evictionSoft = .*: needs its grace period/],
    [{ evictionSoftGracePeriod: { 'memory.available': 'soon' } }, /must be a duration such as 1m30s, got "soon"/],
    [
      { evictionMinimumReclaim: { 'memory.available': '-1' } },
      /evictionMinimumReclaim = .*: must be an amount such as 500Mi/,
    ],
  ];
  for (const [fields, expected] of wrong) assert.throws(() => complete(fields), expected);
});

test('enforcing a reservation requires its cgroup', () => {
  assert.throws(
    () => complete({ enforceNodeAllocatable: ['pods', 'kube-reserved'] }),
    /kubeReservedCgroup: must be set because enforceNodeAllocatable has kube-reserved/,
  );
  assert.throws(
    () =>
      complete({ enforceNodeAllocatable: ['kube-reserved', 'kube-reserved-compressible'], kubeReservedCgroup: '/k' }),
    /kube-reserved cannot be combined with kube-reserved-compressible/,
  );
});

test('a configuration that does not match the host is rejected', () => {
  const on = (cgroupVersion: 'v1' | 'v2', fields: Record<string, unknown>) => () =>
    checkedConfiguration(given(fields), { cgroupVersion });
  assert.throws(
    on('v1', {}),
    /failCgroupV1: kubelet is configured to not run on a host using cgroup v1; set it to false/,
  );
  on('v1', { failCgroupV1: false, singleProcessOOMKill: true })();
  assert.throws(
    on('v1', { failCgroupV1: false, singleProcessOOMKill: false }),
    /singleProcessOOMKill = false: must not be/,
  );
  on('v2', { singleProcessOOMKill: true })();
});

test('at most ten problems are reported, each with its source', () => {
  const all = Object.fromEntries(
    [
      'kubeAPIQPS',
      'kubeAPIBurst',
      'eventBurst',
      'maxPods',
      'podsPerCore',
      'maxOpenFiles',
      'eventRecordQPS',
      'registryPullQPS',
      'registryBurst',
      'nodeLeaseDurationSeconds',
      'containerLogMaxFiles',
    ].map((name) => [name, -1]),
  );
  assert.throws(
    () => complete(all),
    (error: Error) => error.message.split('\n').length === 10,
  );
  assert.throws(() => checkedConfiguration(given({ maxPods: -1 }, '--max-pods'), V2), {
    message: 'configure the kubelet: --max-pods = -1: must be at least 0',
  });
});

test('a later file wins for each field, maps are merged, and null unsets a field', () => {
  const under = given({ maxPods: 1, port: 2, featureGates: { A: true }, clusterDNS: ['10.0.0.1', '10.0.0.2'] }, 'a');
  const over = given({ maxPods: 3, port: null, featureGates: { B: true }, clusterDNS: ['10.0.0.3'] }, 'b');
  const laid = Object.fromEntries(
    [...layFields(under, over)].map(([name, { value, place }]) => [name, [value, place]]),
  );
  assert.deepEqual(laid, {
    maxPods: [3, 'b'],
    featureGates: [{ A: true, B: true }, 'b'],
    clusterDNS: [['10.0.0.3'], 'b'],
  });
});

test('flags override files and replace their maps, but feature gates are merged', () => {
  const files = given({ maxPods: 1, systemReserved: { cpu: '1' }, featureGates: { A: true } }, 'a');
  const flags = given({ maxPods: 2, systemReserved: { memory: '1Gi' }, featureGates: { B: false } }, '--x');
  const laid = Object.fromEntries([...layFlags(files, flags)].map(([name, { value }]) => [name, value]));
  assert.deepEqual(laid, { maxPods: 2, systemReserved: { memory: '1Gi' }, featureGates: { A: true, B: false } });
});

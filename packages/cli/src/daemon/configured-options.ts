/** Maps fields of a KubeletConfiguration and flags to the kubelet's options. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseCpus, quantityMilliValue, quantityValue } from '@podwright/kube-api';
import type { KubeletOptions } from '@podwright/kubelet';
import {
  type KubeletConfiguration,
  type PlacementOptions,
  type ReservedCgroup,
  type ResourcePolicy,
  type SystemReserved,
  shutdownPeriods,
} from '@podwright/kubelet-configuration';
import { cpuOptions, topologyOptions } from '@podwright/placement';
import { type FieldSetters, withFields } from './configured-fields.ts';
import { configuredNode } from './configured-node.ts';
import { configuredServer } from './configured-server.ts';
import { hardThresholds } from './hard-thresholds.ts';

/**
 * The setter of each field. The order matters for fields that depend on each other: `podsPerCore` lowers `maxPods`, and `kubeReserved`
 * is added to `systemReserved`.
 */
const SETTERS: FieldSetters<KubeletOptions> = {
  rootDir: (options, { rootDir }) => {
    if (rootDir === '') return {};
    return { rootDir, images: { ...options.images, dockerConfigPaths: dockerConfigsOf(rootDir) } };
  },
  staticPodPath: (_, { staticPodPath }) => (staticPodPath === '' ? {} : { manifestDir: staticPodPath }),
  staticPodURL: (_, { staticPodURL }) => ({ manifestUrl: staticPodURL === '' ? undefined : staticPodURL }),
  staticPodURLHeader: (_, { staticPodURLHeader }) => ({ manifestUrlHeaders: staticPodURLHeader }),
  fileCheckFrequency: ({ sourcePeriods }, { fileCheckFrequency: fileMs }) => ({
    sourcePeriods: { ...sourcePeriods, fileMs },
  }),
  httpCheckFrequency: ({ sourcePeriods }, { httpCheckFrequency: urlMs }) => ({
    sourcePeriods: { ...sourcePeriods, urlMs },
  }),
  syncFrequency: (_, { syncFrequency }) => ({ resyncPeriodMs: syncFrequency }),
  clusterDomain: (_, { clusterDomain }) => ({ clusterDomain }),
  clusterDNS: (_, { clusterDNS }) => ({ clusterDns: clusterDNS }),
  resolvConf: (_, { resolvConf }) => ({ resolvConf }),
  podCIDR: (_, { podCIDR }) => ({ podCidr: podCIDR }),
  podLogsDir: (_, { podLogsDir }) => ({ podLogsDir }),
  containerLogMaxSize: ({ containerLog }, { containerLogMaxSize }) => ({
    containerLog: { ...containerLog, maxSizeBytes: Number(quantityValue(containerLogMaxSize)) },
  }),
  containerLogMaxFiles: ({ containerLog }, { containerLogMaxFiles: maxFiles }) => ({
    containerLog: { ...containerLog, maxFiles },
  }),
  containerLogMaxWorkers: ({ containerLog }, { containerLogMaxWorkers: maxWorkers }) => ({
    containerLog: { ...containerLog, maxWorkers },
  }),
  containerLogMonitorInterval: ({ containerLog }, { containerLogMonitorInterval: monitorPeriodMs }) => ({
    containerLog: { ...containerLog, monitorPeriodMs },
  }),
  'crashLoopBackOff.maxContainerRestartPeriod': (_, configuration) => {
    const maxMs = configuration['crashLoopBackOff.maxContainerRestartPeriod'];
    return { crashLoopBackoff: { initialMs: Math.min(10_000, maxMs), maxMs } };
  },
  seccompDefault: (_, { seccompDefault }) => ({ seccompDefault }),
  seccompDefaultFlag: (_, { seccompDefault }) => ({ seccompDefault }),
  configMapAndSecretChangeDetectionStrategy: (_, { configMapAndSecretChangeDetectionStrategy: how }) => ({
    objectChangeDetection: how === '' ? 'Watch' : how,
  }),
  allowedUnsafeSysctls: (_, { allowedUnsafeSysctls }) => ({ allowedUnsafeSysctls }),
  containerRuntimeEndpoint: (_, { containerRuntimeEndpoint }) => ({ runtimeEndpoint: containerRuntimeEndpoint }),
  imageServiceEndpoint: (_, { imageServiceEndpoint: at }) => ({ imageEndpoint: at === '' ? undefined : at }),
  runtimeRequestTimeout: (_, { runtimeRequestTimeout }) => ({ runtimeRequestTimeoutMs: runtimeRequestTimeout }),
  registryPullQPS: ({ images }, { registryPullQPS }) => ({ images: { ...images, registryPullQps: registryPullQPS } }),
  registryBurst: ({ images }, { registryBurst }) => ({ images: { ...images, registryBurst } }),
  serializeImagePulls: ({ images }, { serializeImagePulls }) => ({
    images: { ...images, serializePulls: serializeImagePulls ?? true },
  }),
  maxParallelImagePulls: ({ images }, { maxParallelImagePulls }) => ({
    images: { ...images, maxParallelPulls: maxParallelImagePulls ?? 0 },
  }),
  imageCredentialProviderConfig: (
    { images },
    { imageCredentialProviderConfig: config, imageCredentialProviderBinDir },
  ) =>
    config === ''
      ? {}
      : { images: { ...images, credentialProviders: { config, directory: imageCredentialProviderBinDir } } },
  imagePullCredentialsVerificationPolicy: ({ images }, configuration) => ({
    images: { ...images, verification: verificationOf(configuration) },
  }),
  preloadedImagesVerificationAllowlist: ({ images }, configuration) => ({
    images: { ...images, verification: verificationOf(configuration) },
  }),
  imageMinimumGCAge: ({ imageGc }, { imageMinimumGCAge: minAgeMs }) => ({ imageGc: { ...imageGc, minAgeMs } }),
  imageMaximumGCAge: ({ imageGc }, { imageMaximumGCAge: maxAgeMs }) => ({ imageGc: { ...imageGc, maxAgeMs } }),
  imageGCHighThresholdPercent: ({ imageGc }, { imageGCHighThresholdPercent: highThresholdPercent }) => ({
    imageGc: { ...imageGc, highThresholdPercent },
  }),
  imageGCLowThresholdPercent: ({ imageGc }, { imageGCLowThresholdPercent: lowThresholdPercent }) => ({
    imageGc: { ...imageGc, lowThresholdPercent },
  }),
  maxDeadContainersPerContainer: ({ containerGc }, { maxDeadContainersPerContainer: maxPerContainer }) => ({
    containerGc: { ...containerGc, maxPerContainer: Math.max(0, maxPerContainer) },
  }),
  maxDeadContainers: ({ containerGc }, { maxDeadContainers: maxContainers }) => ({
    containerGc: { ...containerGc, maxContainers },
  }),
  minContainerAge: ({ containerGc }, { minContainerAge: minAgeMs }) => ({ containerGc: { ...containerGc, minAgeMs } }),
  hostnameOverride: (_, { hostnameOverride: name }) => (name === '' ? {} : { nodeName: name.trim().toLowerCase() }),
  nodeIp: (_, { nodeIp }) => ({ nodeIp }),
  nodeLabels: (_, { nodeLabels }) => ({ nodeLabels }),
  maxPods: (_, { maxPods }) => ({ maxPods }),
  podsPerCore: ({ maxPods }, { podsPerCore }) => ({ maxPods: podsAtMost(maxPods, podsPerCore) }),
  oomScoreAdj: (_, { oomScoreAdj }) => ({ oomScoreAdj }),
  failSwapOn: ({ requirements }, { failSwapOn }) => ({ requirements: { ...requirements, noSwap: failSwapOn } }),
  protectKernelDefaults: ({ requirements }, { protectKernelDefaults }) => ({
    requirements: { ...requirements, kernelDefaults: protectKernelDefaults },
  }),
  cgroupRoot: (_, { cgroupRoot }) => (cgroupRoot === '' ? {} : { cgroupRoot }),
  cgroupsPerQOS: (_, { cgroupsPerQOS }) => (cgroupsPerQOS ? {} : { cgroupRoot: '' }),
  cgroupDriver: (_, { cgroupDriver }) => ({ cgroupDriverFallback: cgroupDriver === '' ? 'cgroupfs' : cgroupDriver }),
  systemReserved: (_, { systemReserved }) => ({ systemReserved: reserve(systemReserved) }),
  kubeReserved: ({ systemReserved }, { kubeReserved }) => {
    const more = reserve(kubeReserved);
    const sum = (a: number | 'auto', b: number) => (a === 'auto' ? b : a + b);
    return {
      systemReserved: {
        memoryBytes: sum(systemReserved.memoryBytes, more.memoryBytes),
        pids: sum(systemReserved.pids, more.pids),
        cpuMillis: systemReserved.cpuMillis + more.cpuMillis,
        ephemeralStorageBytes: systemReserved.ephemeralStorageBytes + more.ephemeralStorageBytes,
      },
    };
  },
  enforceNodeAllocatable: (_, configuration) => ({
    enforceNodeAllocatable: configuration.enforceNodeAllocatable.includes('pods'),
    reservedCgroups: reservedCgroups(configuration),
  }),
  cpuCFSQuota: resourcePolicy(({ cpuCFSQuota }) => ({ cpuCfsQuota: cpuCFSQuota })),
  cpuCFSQuotaPeriod: resourcePolicy(({ cpuCFSQuotaPeriod }) => ({
    cpuCfsQuotaPeriodMicros: Math.round(cpuCFSQuotaPeriod * 1000),
  })),
  singleProcessOOMKill: resourcePolicy(({ singleProcessOOMKill: single }) =>
    single === undefined ? {} : { singleProcessOomKill: single },
  ),
  'memorySwap.swapBehavior': resourcePolicy((configuration) => ({
    swapBehavior: configuration['memorySwap.swapBehavior'] === 'LimitedSwap' ? 'LimitedSwap' : 'NoSwap',
  })),
  featureGates: resourcePolicy(({ featureGates, memoryThrottlingFactor, memoryReservationPolicy }) => {
    if (!isOn(featureGates, 'MemoryQoS')) return {};
    const reservation = memoryReservationPolicy === 'TieredReservation' ? 'TieredReservation' : 'None';
    return { memoryQos: { throttlingFactor: memoryThrottlingFactor, reservation } };
  }),
  reservedSystemCPUs: ({ systemReserved, placement }, { reservedSystemCPUs }) => {
    const reserved = parseCpus(reservedSystemCPUs);
    if (reserved.length === 0) return {};
    return {
      systemReserved: { ...systemReserved, cpuMillis: reserved.length * 1000 },
      placement: { ...placement, cpu: { ...placement.cpu, reserved } },
    };
  },
  cpuManagerPolicy: placement(({ cpuManagerPolicy }) => ({ cpu: { policy: cpuManagerPolicy || 'none' } })),
  cpuManagerPolicyOptions: placement(({ cpuManagerPolicyOptions }) => ({
    cpu: { options: cpuOptions(cpuManagerPolicyOptions) },
  })),
  cpuManagerReconcilePeriod: placement(({ cpuManagerReconcilePeriod: reconcilePeriodMs }) => ({
    cpu: { reconcilePeriodMs },
  })),
  memoryManagerPolicy: placement(({ memoryManagerPolicy }) => ({ memory: { policy: memoryManagerPolicy || 'None' } })),
  reservedMemory: placement(({ reservedMemory }) => ({ memory: { reserved: reservedMemory.map(memoryReservation) } })),
  topologyManagerPolicy: placement(({ topologyManagerPolicy }) => ({
    topology: { policy: topologyManagerPolicy || 'none' },
  })),
  topologyManagerScope: placement(({ topologyManagerScope }) => ({
    topology: { scope: topologyManagerScope || 'container' },
  })),
  topologyManagerPolicyOptions: placement(({ topologyManagerPolicyOptions }) => ({
    topology: { options: topologyOptions(topologyManagerPolicyOptions) },
  })),
  evictionHard: eviction((configuration) => ({ hard: hardThresholds(configuration) })),
  mergeDefaultEvictionSettings: eviction((configuration) => ({ hard: hardThresholds(configuration) })),
  evictionSoft: eviction(({ evictionSoft: soft }) => ({ soft })),
  evictionSoftGracePeriod: eviction(({ evictionSoftGracePeriod: softGracePeriod }) => ({ softGracePeriod })),
  evictionMinimumReclaim: eviction(({ evictionMinimumReclaim: minimumReclaim }) => ({ minimumReclaim })),
  evictionPressureTransitionPeriod: eviction(({ evictionPressureTransitionPeriod: transitionMs }) => ({
    transitionMs,
  })),
  evictionMaxPodGracePeriod: eviction(({ evictionMaxPodGracePeriod: maxPodGraceSeconds }) => ({ maxPodGraceSeconds })),
  shutdownGracePeriod: shutdown,
  shutdownGracePeriodCriticalPods: shutdown,
  shutdownGracePeriodByPodPriority: shutdown,
  podPidsLimit: (_, { podPidsLimit }) => ({ podPidsLimit }),
  'userNamespaces.idsPerPod': (_, configuration) => ({
    userNamespaceIdsPerPod: configuration['userNamespaces.idsPerPod'],
  }),
  'tracing.endpoint': (_, configuration) => ({ tracing: tracingOf(configuration) }),
  'tracing.samplingRatePerMillion': (_, configuration) => ({ tracing: tracingOf(configuration) }),
};

function shutdown(_: KubeletOptions, configuration: KubeletConfiguration) {
  return { shutdownPeriods: shutdownPeriods(configuration) };
}

/** Applies the fields to the options, in the order of the table. */
export function configuredOptions(
  options: KubeletOptions,
  configuration: KubeletConfiguration,
  isWanted: (field: string) => boolean,
): KubeletOptions {
  const fields = { configuration, isWanted };
  return {
    ...withFields(options, SETTERS, fields),
    server: configuredServer(options.server, fields),
    node: configuredNode(options.node, fields),
  };
}

/** Tracing is off unless a sampling rate is set. The default endpoint is a collector on this host. */
function tracingOf(configuration: KubeletConfiguration): KubeletOptions['tracing'] {
  const samplingRatePerMillion = configuration['tracing.samplingRatePerMillion'] ?? 0;
  const endpoint = configuration['tracing.endpoint'] || 'localhost:4317';
  return { endpoint: samplingRatePerMillion === 0 ? '' : endpoint, samplingRatePerMillion };
}

function verificationOf(configuration: KubeletConfiguration): KubeletOptions['images']['verification'] {
  const { imagePullCredentialsVerificationPolicy: kind, preloadedImagesVerificationAllowlist: allowlist } =
    configuration;
  if (kind === 'NeverVerifyAllowlistedImages') return { kind, allowlist };
  return { kind: kind === '' ? 'NeverVerifyPreloadedImages' : kind };
}

/** The Docker configuration files in which the kubelet looks for registry credentials. */
export function dockerConfigsOf(rootDir: string): string[] {
  return [join(rootDir, 'config.json'), '/root/.docker/config.json'];
}

/** Makes a setter of a part of `containerResources`. */
function resourcePolicy(policyOf: (configuration: KubeletConfiguration) => Partial<ResourcePolicy>) {
  return ({ containerResources }: KubeletOptions, configuration: KubeletConfiguration) => ({
    containerResources: { ...containerResources, ...policyOf(configuration) },
  });
}

/** Makes a setter of a part of `eviction`. */
function eviction(partOf: (configuration: KubeletConfiguration) => Partial<KubeletOptions['eviction']>) {
  return ({ eviction: before }: KubeletOptions, configuration: KubeletConfiguration) => ({
    eviction: { ...before, ...partOf(configuration) },
  });
}

type PlacementPart = { [K in keyof PlacementOptions]?: Partial<PlacementOptions[K]> };

/** Makes a setter of a part of `placement`. */
function placement(partOf: (configuration: KubeletConfiguration) => PlacementPart) {
  return ({ placement: before }: KubeletOptions, configuration: KubeletConfiguration) => {
    const { cpu, memory, topology } = partOf(configuration);
    return {
      placement: {
        cpu: { ...before.cpu, ...cpu },
        memory: { ...before.memory, ...memory },
        topology: { ...before.topology, ...topology },
      },
    };
  };
}

function memoryReservation({ numaNode, limits }: KubeletConfiguration['reservedMemory'][number]) {
  const bytes = Object.entries(limits).map(([name, size]) => [name, quantityValue(size)]);
  return { node: numaNode, limits: Object.fromEntries(bytes) as Record<string, bigint> };
}

type ReservedOwner = Pick<ReservedCgroup, 'owner' | 'cgroup'> & { amounts: Record<string, string> };

const isOn = (gates: Record<string, boolean>, name: string) => gates[name] === true;

function reservedCgroups(configuration: KubeletConfiguration): ReservedCgroup[] {
  const { enforceNodeAllocatable: kinds, systemReserved, kubeReserved } = configuration;
  const owners = [
    { owner: 'System', cgroup: configuration.systemReservedCgroup, amounts: systemReserved },
    { owner: 'Kube', cgroup: configuration.kubeReservedCgroup, amounts: kubeReserved },
  ] as const;
  return owners.flatMap(({ owner, cgroup, amounts }: ReservedOwner) => {
    const kind = kinds.find((one) => one.startsWith(`${owner.toLowerCase()}-reserved`));
    if (kind === undefined) return [];
    const { memoryBytes, pids, cpuMillis } = reserve(amounts);
    const given = {
      ...(amounts.cpu === undefined ? {} : { milliCpu: cpuMillis }),
      ...(amounts.memory === undefined ? {} : { memoryBytes }),
      ...(amounts.pid === undefined ? {} : { pids }),
    };
    return [{ owner, cgroup, ...given, compressibleOnly: kind.endsWith('-compressible') }];
  });
}

function reserve({
  memory = '0',
  pid = '0',
  cpu = '0',
  'ephemeral-storage': storage = '0',
}: Record<string, string>): SystemReserved & { memoryBytes: number; pids: number } {
  return {
    ephemeralStorageBytes: Number(quantityValue(storage)),
    memoryBytes: Number(quantityValue(memory)),
    pids: Number(quantityValue(pid)),
    cpuMillis: Number(quantityMilliValue(cpu)),
  };
}

const podsAtMost = (maxPods: number, perCore: number) =>
  perCore === 0 ? maxPods : Math.min(maxPods, perCore * availableParallelism());

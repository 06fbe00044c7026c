/** What fields of a KubeletConfiguration and flags make of a kubelet's options. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type KubeletConfiguration,
  type KubeletOptions,
  type KubeletServerOptions,
  quantityMilliValue,
  quantityValue,
} from '@podwright/kubelet';

type Setter = (options: KubeletOptions, configuration: KubeletConfiguration) => Partial<KubeletOptions>;

type ServerSetter<Part> = (configuration: KubeletConfiguration) => Partial<Part>;

const setServer =
  (change: ServerSetter<KubeletServerOptions>): Setter =>
  ({ server }, configuration) => ({ server: { ...server, ...change(configuration) } });

const setTls =
  (change: ServerSetter<KubeletServerOptions['tls']>): Setter =>
  ({ server }, configuration) => ({ server: { ...server, tls: { ...server.tls, ...change(configuration) } } });

const setAuthentication =
  (
    change: (
      configuration: KubeletConfiguration,
      before: KubeletServerOptions['authentication'],
    ) => Partial<KubeletServerOptions['authentication']>,
  ): Setter =>
  ({ server }, configuration) => ({
    server: {
      ...server,
      authentication: { ...server.authentication, ...change(configuration, server.authentication) },
    },
  });

const setResources =
  (change: ServerSetter<KubeletOptions['containerResources']>): Setter =>
  ({ containerResources }, configuration) => ({
    containerResources: { ...containerResources, ...change(configuration) },
  });

const isOpen = (configuration: KubeletConfiguration) => configuration['authorization.mode'] === 'AlwaysAllow';

/**
 * How each field sets options. Those that may stand together have an order: `podsPerCore` lowers what `maxPods` has set,
 * `kubeReserved` comes on top of `systemReserved`.
 */
const SETTERS: Partial<Record<keyof KubeletConfiguration, Setter>> = {
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
      },
    };
  },
  enforceNodeAllocatable: (_, { enforceNodeAllocatable: kinds }) => ({
    enforceNodeAllocatable: kinds.includes('pods'),
  }),
  podPidsLimit: (_, { podPidsLimit }) => ({ podPidsLimit }),
  'userNamespaces.idsPerPod': (_, configuration) => ({
    userNamespaceIdsPerPod: configuration['userNamespaces.idsPerPod'],
  }),
  cpuCFSQuota: setResources(({ cpuCFSQuota: cpuCfsQuota }) => ({ cpuCfsQuota })),
  cpuCFSQuotaPeriod: setResources(({ cpuCFSQuotaPeriod: ms }) => ({ cpuCfsQuotaPeriodMicros: ms * 1000 })),
  singleProcessOOMKill: setResources(({ singleProcessOOMKill: isSingle = false }) => ({
    singleProcessOomKill: isSingle,
  })),
  'memorySwap.swapBehavior': setResources((configuration) => ({
    swapBehavior: configuration['memorySwap.swapBehavior'] || 'NoSwap',
  })),
  featureGates: setResources(({ featureGates: gates, memoryThrottlingFactor }) => ({
    memoryQos: (gates as Record<string, boolean>).MemoryQoS
      ? { throttlingFactor: memoryThrottlingFactor, reservation: 'None' }
      : undefined,
  })),
  address: setServer(({ address }) => ({ address })),
  port: setServer(({ port }) => ({ port })),
  readOnlyPort: setServer(({ readOnlyPort }) => ({ readOnlyPort })),
  enableServer: setServer(({ enableServer }) => (enableServer ? {} : { port: 0, readOnlyPort: 0 })),
  healthzPort: setServer(({ healthzPort }) => ({ healthzPort })),
  healthzBindAddress: setServer(({ healthzBindAddress }) => ({ healthzBindAddress })),
  enableDebuggingHandlers: setServer(({ enableDebuggingHandlers }) => ({ enableDebuggingHandlers })),
  enableSystemLogHandler: setServer(({ enableSystemLogHandler }) => ({ enableSystemLogHandler })),
  streamingConnectionIdleTimeout: setServer(({ streamingConnectionIdleTimeout: streamingConnectionIdleTimeoutMs }) => ({
    streamingConnectionIdleTimeoutMs,
  })),
  tlsCertFile: setTls(({ tlsCertFile }) => ({ certFile: tlsCertFile || undefined })),
  tlsPrivateKeyFile: setTls(({ tlsPrivateKeyFile }) => ({ privateKeyFile: tlsPrivateKeyFile || undefined })),
  tlsCipherSuites: setTls(({ tlsCipherSuites }) => ({ cipherSuites: tlsCipherSuites })),
  tlsMinVersion: setTls(({ tlsMinVersion }) => ({ minVersion: tlsMinVersion || 'VersionTLS12' })),
  certDirectory: setTls(({ certDirectory }) => ({ certDirectory: certDirectory || undefined })),
  'authentication.x509.clientCAFile': setAuthentication((configuration) => ({
    clientCaFile: configuration['authentication.x509.clientCAFile'] || undefined,
  })),
  tokenAuthFile: setAuthentication(({ tokenAuthFile }) => ({ tokenFile: tokenAuthFile || undefined })),
  'authentication.anonymous.enabled': setAuthentication((configuration) => ({
    anonymous: configuration['authentication.anonymous.enabled'] && isOpen(configuration),
  })),
  // there is no API server to ask what anonymous callers may do, so they may do nothing
  'authorization.mode': setAuthentication((configuration, { anonymous }) => ({
    anonymous: anonymous && isOpen(configuration),
  })),
};

/** Options with these fields laid over them, in the order of the table. */
export function configuredOptions(
  options: KubeletOptions,
  configuration: KubeletConfiguration,
  isWanted: (field: string) => boolean,
): KubeletOptions {
  const laid = { ...options };
  for (const [field, set] of Object.entries(SETTERS))
    if (isWanted(field)) Object.assign(laid, set(laid, configuration));
  return laid;
}

/** Docker's configuration files where the kubelet looks for credentials of registries. */
export function dockerConfigsOf(rootDir: string): string[] {
  return [join(rootDir, 'config.json'), '/root/.docker/config.json'];
}

function reserve({ memory = '0', pid = '0', cpu = '0' }: Record<string, string>) {
  return {
    memoryBytes: Number(quantityValue(memory)),
    pids: Number(quantityValue(pid)),
    cpuMillis: Number(quantityMilliValue(cpu)),
  };
}

const podsAtMost = (maxPods: number, perCore: number) =>
  perCore === 0 ? maxPods : Math.min(maxPods, perCore * availableParallelism());

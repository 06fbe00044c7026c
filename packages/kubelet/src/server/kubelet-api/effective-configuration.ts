import { completeConfiguration } from '../../configuration/complete-configuration.ts';
import { configurationDocument } from '../../configuration/configuration-document.ts';
import type { KubeletConfiguration } from '../../configuration/fields/field-table.ts';
import type { KubeletServerOptions } from '../../configuration/server-options.ts';
import type { KubeletOptions } from '../../options.ts';

/** The KubeletConfiguration in force: what was `configured`, else upstream's defaults, under what the options say. */
export function effectiveConfiguration(
  options: KubeletOptions,
  configured: KubeletConfiguration = completeConfiguration(new Map()),
): object {
  return configurationDocument({
    ...configured,
    ...podFields(options),
    ...imageFields(options),
    ...resourceFields(options),
    ...serverFields(options.server),
  });
}

type SomeFields = Partial<KubeletConfiguration>;

function podFields(options: KubeletOptions): SomeFields {
  const { containerLog } = options;
  return {
    staticPodPath: options.manifestDir,
    staticPodURL: options.manifestUrl ?? '',
    staticPodURLHeader: options.manifestUrlHeaders,
    syncFrequency: options.resyncPeriodMs,
    fileCheckFrequency: options.sourcePeriods.fileMs,
    httpCheckFrequency: options.sourcePeriods.urlMs,
    clusterDomain: options.clusterDomain,
    clusterDNS: options.clusterDns,
    resolvConf: options.resolvConf,
    podCIDR: options.podCidr,
    podLogsDir: options.podLogsDir,
    containerLogMaxFiles: containerLog.maxFiles,
    containerLogMaxWorkers: containerLog.maxWorkers,
    containerLogMonitorInterval: containerLog.monitorPeriodMs,
    'crashLoopBackOff.maxContainerRestartPeriod': options.crashLoopBackoff.maxMs,
    seccompDefault: options.seccompDefault,
    allowedUnsafeSysctls: options.allowedUnsafeSysctls,
    maxPods: options.maxPods,
    'userNamespaces.idsPerPod': options.userNamespaceIdsPerPod,
  };
}

function imageFields({ images, imageGc, ...options }: KubeletOptions): SomeFields {
  return {
    containerRuntimeEndpoint: options.runtimeEndpoint,
    imageServiceEndpoint: options.imageEndpoint ?? '',
    runtimeRequestTimeout: options.runtimeRequestTimeoutMs,
    serializeImagePulls: images.serializePulls,
    maxParallelImagePulls: images.maxParallelPulls || undefined,
    registryPullQPS: images.registryPullQps,
    registryBurst: images.registryBurst,
    imageMinimumGCAge: imageGc.minAgeMs,
    imageMaximumGCAge: imageGc.maxAgeMs,
    imageGCHighThresholdPercent: imageGc.highThresholdPercent,
    imageGCLowThresholdPercent: imageGc.lowThresholdPercent,
  };
}

function resourceFields({ containerResources: resources, ...options }: KubeletOptions): SomeFields {
  return {
    cgroupRoot: options.cgroupRoot,
    cgroupsPerQOS: options.cgroupRoot !== '',
    enforceNodeAllocatable: enforced(options),
    podPidsLimit: options.podPidsLimit,
    cpuCFSQuota: resources.cpuCfsQuota,
    cpuCFSQuotaPeriod: resources.cpuCfsQuotaPeriodMicros / 1000,
    singleProcessOOMKill: resources.singleProcessOomKill,
    'memorySwap.swapBehavior': resources.swapBehavior,
    failSwapOn: options.requirements.noSwap,
    protectKernelDefaults: options.requirements.kernelDefaults,
  };
}

function enforced({
  enforceNodeAllocatable,
  reservedCgroups,
}: Pick<KubeletOptions, 'enforceNodeAllocatable' | 'reservedCgroups'>): string[] {
  const kinds = reservedCgroups.map(
    ({ owner, compressibleOnly }) => `${owner.toLowerCase()}-reserved${compressibleOnly ? '-compressible' : ''}`,
  );
  const all = [...(enforceNodeAllocatable ? ['pods'] : []), ...kinds];
  return all.length === 0 ? ['none'] : all;
}

function serverFields({ tls, authentication, ...server }: KubeletServerOptions): SomeFields {
  const { streamingConnectionIdleTimeoutMs, ...plain } = server;
  return {
    ...plain,
    streamingConnectionIdleTimeout: streamingConnectionIdleTimeoutMs,
    tlsCertFile: tls.certFile ?? '',
    tlsPrivateKeyFile: tls.privateKeyFile ?? '',
    tlsCipherSuites: tls.cipherSuites,
    tlsMinVersion: tls.minVersion,
    'authentication.x509.clientCAFile': authentication.clientCaFile ?? '',
    'authentication.anonymous.enabled': authentication.anonymous,
  };
}

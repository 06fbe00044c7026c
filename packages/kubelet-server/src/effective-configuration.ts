import { formatQuantity, parseQuantity } from '@podwright/kube-api';
import type { KubeletOptions } from '@podwright/kubelet';
import {
  completeConfiguration,
  configurationDocument,
  type KubeletConfiguration,
} from '@podwright/kubelet-configuration';
import { certificateDirectory, ownCertificateFiles } from './server-certificate.ts';

/** Returns the KubeletConfiguration in effect. The options override the `configured` fields, which override upstream's defaults. */
export function effectiveConfiguration(
  options: KubeletOptions,
  configured: KubeletConfiguration = UNCONFIGURED,
): object {
  return configurationDocument({
    ...configured,
    ...podFields(options, configured),
    ...imageFields(options),
    ...resourceFields(options),
    systemReserved: systemReserved(options.systemReserved, configured),
    ...serverFields(options, configured),
  });
}

/** The configuration that is in effect if no KubeletConfiguration was given. Unlike upstream's default, it accepts hosts with cgroup v1. */
const UNCONFIGURED: KubeletConfiguration = { ...completeConfiguration(new Map()), failCgroupV1: false };

type SomeFields = Partial<KubeletConfiguration>;

const NANOS = 1_000_000_000n;

function podFields(options: KubeletOptions, { containerLogMaxSize }: KubeletConfiguration): SomeFields {
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
    containerLogMaxSize: written(BigInt(containerLog.maxSizeBytes) * NANOS, { like: 'Ki', given: containerLogMaxSize }),
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
  const { verification } = images;
  return {
    containerRuntimeEndpoint: options.runtimeEndpoint,
    imageServiceEndpoint: options.imageEndpoint ?? '',
    runtimeRequestTimeout: options.runtimeRequestTimeoutMs,
    serializeImagePulls: images.serializePulls,
    imagePullCredentialsVerificationPolicy: verification.kind,
    preloadedImagesVerificationAllowlist: 'allowlist' in verification ? [...verification.allowlist] : [],
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
    cgroupDriver: options.cgroupDriver === 'auto' ? options.cgroupDriverFallback : options.cgroupDriver,
    oomScoreAdj: options.oomScoreAdj,
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

/**
 * Reserved resources: the resource name, its field in the options, the number of nanos per unit of that field, and the suffix that
 * determines the format of the amount.
 */
const RESERVES = [
  ['cpu', 'cpuMillis', 1_000_000n, ''],
  ['memory', 'memoryBytes', NANOS, 'Ki'],
  ['pid', 'pids', NANOS, ''],
  ['ephemeral-storage', 'ephemeralStorageBytes', NANOS, 'Ki'],
] as const;

/** Returns the system reservation. The options contain the sum of `systemReserved` and `kubeReserved`, so `kubeReserved` is subtracted. */
function systemReserved(
  reserved: KubeletOptions['systemReserved'],
  configured: KubeletConfiguration,
): Record<string, string> {
  const kube: Record<string, string> = configured.kubeReserved;
  const given: Record<string, string> = configured.systemReserved;
  const amounts = RESERVES.flatMap(([name, key, factor, like]) => {
    const all = reserved[key];
    if (all === 'auto') return [];
    const nanos = BigInt(Math.round(all)) * factor - parseQuantity(kube[name] ?? '0').nanos;
    return nanos <= 0n ? [] : [[name, written(nanos, { like, given: given[name] })]];
  });
  return Object.fromEntries(amounts);
}

/** Formats a resource amount. If the configuration file specifies an equal amount, keeps that spelling. */
function written(nanos: bigint, { like, given }: { like: string; given: string | undefined }): string {
  if (given !== undefined && parseQuantity(given).nanos === nanos) return given;
  return formatQuantity(nanos, like);
}

function serverFields(
  { server: { tls, authentication, ...server }, rootDir }: KubeletOptions,
  { 'authorization.mode': mode }: KubeletConfiguration,
): SomeFields {
  const { streamingConnectionIdleTimeoutMs, ...plain } = server;
  const own = server.port > 0 ? ownCertificateFiles(tls, certificateDirectory(rootDir)) : undefined;
  return {
    ...plain,
    enableServer: server.port > 0 || server.readOnlyPort > 0,
    streamingConnectionIdleTimeout: streamingConnectionIdleTimeoutMs,
    tlsCertFile: tls.certFile ?? own?.certificate ?? '',
    tlsPrivateKeyFile: tls.privateKeyFile ?? own?.key ?? '',
    tlsCipherSuites: tls.cipherSuites,
    tlsMinVersion: tls.minVersion,
    'authentication.x509.clientCAFile': authentication.clientCaFile ?? '',
    'authentication.anonymous.enabled': authentication.anonymous,
    'authorization.mode': authorizationMode(authentication, mode),
  };
}

/** Returns the authorization mode in effect. Without webhook authorization, anonymous access implies AlwaysAllow. */
function authorizationMode(
  { anonymous, reviews }: KubeletOptions['server']['authentication'],
  configured: KubeletConfiguration['authorization.mode'],
): KubeletConfiguration['authorization.mode'] {
  if (reviews !== undefined) return reviews.access === undefined ? 'AlwaysAllow' : 'Webhook';
  return anonymous ? 'AlwaysAllow' : configured;
}

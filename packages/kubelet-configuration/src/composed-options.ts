/** Kubelet options that depend on several fields. */
import type { FieldName, KubeletConfiguration } from './fields/field-table.ts';
import type { ConfigurableOptions } from './options/configurable-options.ts';
import type { ReservedCgroup } from './options/reserved-cgroup.ts';
import type { ResourcePolicy } from './options/resource-policy.ts';
import type { KubeletServerOptions, ServerReviews } from './options/server-options.ts';
import { shutdownPeriods } from './options/shutdown-periods.ts';
import { reservedAmounts } from './options/system-reserved.ts';
import { DEFAULT_HARD_THRESHOLDS } from './thresholds/thresholds.ts';
import type { VerificationPolicy } from './verification-policy.ts';

/**
 * `set` returns the changed options. Called if any of the named fields was given, after all rows of the field table and the preceding
 * entries of this list have been applied.
 */
type ComposedOption = {
  fields: FieldName[];
  set: (options: ConfigurableOptions, configuration: KubeletConfiguration) => Partial<ConfigurableOptions>;
};

export const COMPOSED_OPTIONS: ComposedOption[] = [
  {
    fields: ['seccompDefault', 'seccompDefaultFlag'],
    set: (_, { seccompDefault }) => ({ seccompDefault }),
  },
  {
    fields: ['imageCredentialProviderConfig', 'imageCredentialProviderBinDir'],
    set: ({ images }, { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: directory }) =>
      config === '' ? {} : { images: { ...images, credentialProviders: { config, directory } } },
  },
  {
    fields: ['imagePullCredentialsVerificationPolicy', 'preloadedImagesVerificationAllowlist'],
    set: ({ images }, configuration) => ({ images: { ...images, verification: verificationOf(configuration) } }),
  },
  {
    fields: ['enforceNodeAllocatable', 'systemReservedCgroup', 'kubeReservedCgroup'],
    set: (_, configuration) => ({ reservedCgroups: reservedCgroups(configuration) }),
  },
  {
    fields: ['featureGates', 'memoryThrottlingFactor', 'memoryReservationPolicy'],
    set: ({ containerResources }, configuration) => ({
      containerResources: { ...containerResources, ...memoryQosOf(configuration) },
    }),
  },
  {
    fields: ['evictionHard', 'mergeDefaultEvictionSettings'],
    set: ({ eviction, node }, configuration) => {
      const hard = hardThresholds(configuration);
      return { eviction: { ...eviction, hard }, node: { ...node, evictionHard: hard } };
    },
  },
  {
    fields: ['ignoreEvictionThreshold'],
    set: ({ node }, { ignoreEvictionThreshold }) =>
      ignoreEvictionThreshold ? { node: { ...node, evictionHard: {} } } : {},
  },
  {
    // nodeStatusReportFrequency defaults to nodeStatusUpdateFrequency
    fields: ['nodeStatusUpdateFrequency', 'nodeStatusReportFrequency'],
    set: ({ node }, { nodeStatusReportFrequency: statusReportMs }) => ({ node: { ...node, statusReportMs } }),
  },
  {
    fields: ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods', 'shutdownGracePeriodByPodPriority'],
    set: (_, configuration) => ({ shutdownPeriods: shutdownPeriods(configuration) }),
  },
  {
    fields: ['tracing.endpoint', 'tracing.samplingRatePerMillion'],
    set: (_, configuration) => ({ tracing: tracingOf(configuration) }),
  },
  {
    fields: ['enableServer'],
    set: ({ server }, { enableServer }) => (enableServer ? {} : { server: { ...server, port: 0, readOnlyPort: 0 } }),
  },
  {
    fields: ['authentication.anonymous.enabled'],
    set: ({ server }, configuration) =>
      withAuthentication(server, {
        anonymous: configuration['authentication.anonymous.enabled'] && isOpen(configuration),
      }),
  },
  {
    // anonymous callers are rejected if there is no API server to authorize them
    fields: ['authorization.mode'],
    set: ({ server }, configuration) =>
      withAuthentication(server, { anonymous: server.authentication.anonymous && isOpen(configuration) }),
  },
  {
    // in a cluster, upstream's authentication and authorization defaults apply
    fields: [
      'kubeconfig',
      'authentication.webhook.enabled',
      'authentication.webhook.cacheTTL',
      'authorization.webhook.cacheAuthorizedTTL',
      'authorization.webhook.cacheUnauthorizedTTL',
    ],
    set: ({ server }, configuration) => {
      if (configuration.kubeconfig === '') return {};
      const anonymous = configuration['authentication.anonymous.enabled'];
      return withAuthentication(server, { anonymous, reviews: reviewsOf(configuration) });
    },
  },
];

function verificationOf(configuration: KubeletConfiguration): VerificationPolicy {
  const { imagePullCredentialsVerificationPolicy: kind, preloadedImagesVerificationAllowlist: allowlist } =
    configuration;
  if (kind === 'NeverVerifyAllowlistedImages') return { kind, allowlist };
  return { kind: kind === '' ? 'NeverVerifyPreloadedImages' : kind };
}

type ReservedOwner = Pick<ReservedCgroup, 'owner' | 'cgroup'> & { amounts: Record<string, string> };

function reservedCgroups(configuration: KubeletConfiguration): ReservedCgroup[] {
  const { enforceNodeAllocatable: kinds, systemReserved, kubeReserved } = configuration;
  const owners = [
    { owner: 'System', cgroup: configuration.systemReservedCgroup, amounts: systemReserved },
    { owner: 'Kube', cgroup: configuration.kubeReservedCgroup, amounts: kubeReserved },
  ] as const;
  return owners.flatMap(({ owner, cgroup, amounts }: ReservedOwner) => {
    const kind = kinds.find((one) => one.startsWith(`${owner.toLowerCase()}-reserved`));
    if (kind === undefined) return [];
    const { memoryBytes, pids, cpuMillis } = reservedAmounts(amounts);
    const given = {
      ...(amounts.cpu === undefined ? {} : { milliCpu: cpuMillis }),
      ...(amounts.memory === undefined ? {} : { memoryBytes }),
      ...(amounts.pid === undefined ? {} : { pids }),
    };
    return [{ owner, cgroup, ...given, compressibleOnly: kind.endsWith('-compressible') }];
  });
}

function memoryQosOf(configuration: KubeletConfiguration): Pick<ResourcePolicy, 'memoryQos'> {
  const { featureGates: gates, memoryThrottlingFactor: throttlingFactor, memoryReservationPolicy } = configuration;
  if (gates.MemoryQoS !== true) return {};
  return { memoryQos: { throttlingFactor, reservation: memoryReservationPolicy || 'None' } };
}

/**
 * Returns evictionHard, or upstream's defaults if it is unset. With mergeDefaultEvictionSettings, the defaults also fill in missing
 * signals.
 */
function hardThresholds({ evictionHard: given, mergeDefaultEvictionSettings: merges }: KubeletConfiguration) {
  return given === undefined || merges ? { ...DEFAULT_HARD_THRESHOLDS, ...given } : given;
}

/** Returns the tracing options. Tracing is off unless a sampling rate is set. By default, traces are sent to a collector on this host. */
function tracingOf(configuration: KubeletConfiguration): ConfigurableOptions['tracing'] {
  const samplingRatePerMillion = configuration['tracing.samplingRatePerMillion'] ?? 0;
  const endpoint = configuration['tracing.endpoint'] || 'localhost:4317';
  return { endpoint: samplingRatePerMillion === 0 ? '' : endpoint, samplingRatePerMillion };
}

const isOpen = (configuration: KubeletConfiguration) => configuration['authorization.mode'] === 'AlwaysAllow';

function withAuthentication(server: KubeletServerOptions, change: Partial<KubeletServerOptions['authentication']>) {
  return { server: { ...server, authentication: { ...server.authentication, ...change } } };
}

function reviewsOf(configuration: KubeletConfiguration): ServerReviews {
  const access = {
    allowedMs: configuration['authorization.webhook.cacheAuthorizedTTL'],
    deniedMs: configuration['authorization.webhook.cacheUnauthorizedTTL'],
  };
  return {
    ...(configuration['authentication.webhook.enabled']
      ? { tokens: { keptMs: configuration['authentication.webhook.cacheTTL'] } }
      : {}),
    ...(isOpen(configuration) ? {} : { access }),
  };
}

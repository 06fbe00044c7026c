/** Image metrics under upstream's names. */
import { Counter, Gauge, Histogram, type Registry } from '@podwright/base';

const MIB = 1n << 20n;
/** Exclusive lower bounds of image sizes in bytes, with the corresponding value of the metric's size label. */
const SIZE_LABELS: [bigint, string][] = [
  [102400n * MIB, 'GT100GB'],
  [61440n * MIB, '60GB-100GB'],
  [40960n * MIB, '40GB-60GB'],
  [30720n * MIB, '30GB-40GB'],
  [20480n * MIB, '20GB-30GB'],
  [10240n * MIB, '10GB-20GB'],
  [5120n * MIB, '5GB-10GB'],
  [1024n * MIB, '1GB-5GB'],
  [500n * MIB, '500MB-1GB'],
  [100n * MIB, '100MB-500MB'],
  [10n * MIB, '10MB-100MB'],
  [0n, '0-10MB'],
];
const PULL_SECONDS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];

/** Returns the size label's value for an image of this size; `N/A` if the size is unknown. */
export function sizeLabel(bytes: bigint): string {
  return SIZE_LABELS.find(([least]) => bytes > least)?.[1] ?? 'N/A';
}

export type ImageMetrics = {
  /**
   * Counts an image request by pull policy. `present`: whether the image was on the node; `pulls`: whether it is pulled. `undefined` means
   * unknown.
   */
  asked(policy: string, present: boolean | undefined, pulls: boolean | undefined): void;
  pulled(seconds: number, sizeBytes: bigint): void;
};

export function imageMetrics(registry: Registry): ImageMetrics {
  const requests = new Counter({
    name: 'kubelet_image_manager_ensure_image_requests_total',
    help: 'Number of ensure-image requests processed by the kubelet.',
    labelNames: ['pull_policy', 'present_locally', 'pull_required'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'Duration in seconds to pull an image.',
    labelNames: ['image_size_in_bytes'],
    buckets: PULL_SECONDS,
    registers: [registry],
  });
  return {
    asked: (policy, present = 'unknown' as never, pulls = 'unknown' as never) =>
      requests.inc({ pull_policy: policy.toLowerCase(), present_locally: `${present}`, pull_required: `${pulls}` }),
    pulled: (seconds, sizeBytes) => durations.observe({ image_size_in_bytes: sizeLabel(sizeBytes) }, seconds),
  };
}

export type AccessMetrics = {
  checked(result: string): void;
  follow(counts: () => { pulling: number; pulled: number }): void;
};

export function accessMetrics(registry: Registry): AccessMetrics {
  const checks = new Counter({
    name: 'kubelet_imagemanager_image_mustpull_checks_total',
    help: 'Counter for how many times kubelet checked whether credentials need to be re-verified to access an image',
    labelNames: ['result'],
    registers: [registry],
  });
  return {
    checked: (result) => checks.inc({ result }),
    follow: (counts) => {
      const gauge = (name: string, help: string, count: () => number) =>
        new Gauge({
          name,
          help,
          registers: [registry],
          collect() {
            this.set(count());
          },
        });
      gauge(
        'kubelet_imagemanager_ondisk_pullintents',
        'Number of ImagePullIntents stored on disk.',
        () => counts().pulling,
      );
      gauge(
        'kubelet_imagemanager_ondisk_pulledrecords',
        'Number of ImagePulledRecords stored on disk.',
        () => counts().pulled,
      );
    },
  };
}

export type ProviderMetrics = { ran(name: string, seconds: number, failed: boolean): void };

export function providerMetrics(registry: Registry, configHash: string): ProviderMetrics {
  const common = { labelNames: ['plugin_name'] as const, registers: [registry] };
  const errors = new Counter({
    name: 'kubelet_credential_provider_plugin_errors_total',
    help: 'Number of errors from credential provider plugin',
    ...common,
  });
  const durations = new Histogram({
    name: 'kubelet_credential_provider_plugin_duration',
    help: 'Duration of execution in seconds for credential provider plugin',
    ...common,
  });
  new Gauge({
    name: 'kubelet_credential_provider_config_info',
    help: 'Information about the last applied credential provider configuration with hash as label',
    labelNames: ['hash'],
    registers: [registry],
  }).set({ hash: configHash }, 1);
  return {
    ran: (name, seconds, failed) => {
      durations.observe({ plugin_name: name }, seconds);
      if (failed) errors.inc({ plugin_name: name });
    },
  };
}

import type { TracingOptions } from '@podwright/base';
import type { NodeConfig } from '../settings/node-config.ts';

/** Returns the tracing options shared by the kubelet and the container runtime. */
export function tracingOptions({ tracing }: NodeConfig): TracingOptions {
  return { endpoint: tracing.endpoint ?? '', samplingRatePerMillion: tracing.sampling_rate_per_million };
}

import type { TracingOptions } from '@podwright/base';
import type { NodeConfig } from '../settings/node-config.ts';

/** Where the spans of kubelet and runtime go. */
export function tracingOptions({ tracing }: NodeConfig): TracingOptions {
  return { endpoint: tracing.endpoint ?? '', samplingRatePerMillion: tracing.sampling_rate_per_million };
}

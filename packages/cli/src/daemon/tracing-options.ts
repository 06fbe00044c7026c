import type { TracingOptions } from '@podwright/base';
import type { NodeConfig } from '../settings/node-config.ts';

/** The tracing options of kubelet and runtime. */
export function tracingOptions({ tracing }: NodeConfig): TracingOptions {
  return { endpoint: tracing.endpoint ?? '', samplingRatePerMillion: tracing.sampling_rate_per_million };
}

import { isRecord, type Logger, PodwrightError } from '@podwright/base';
import { isQuantity, quantityMilliValue, quantityValue } from '@podwright/kube-api';
import { SAMPLE_PERIOD_MS } from '../limits.ts';
import type { ApiServer } from '../upstream/api-server.ts';
import type { JsonCalls } from '../upstream/json-calls.ts';
import { findNode } from './describe-session.ts';
import { sampleOf, type UsageSample } from './usage-sample.ts';
import { UsageSampler } from './usage-sampler.ts';

/** The response to `GET dashboard/usage`. The fields are described in README.md. */
export type NodeUsage = {
  node: string;
  periodMs: number;
  cpuCores: number;
  memoryBytes: number;
  samples: UsageSample[];
};

/** Reads the usage of the node that the dashboard shows, and retains the samples of the last hour. */
export class NodeUsageReader {
  readonly #api: ApiServer;
  readonly #calls: JsonCalls;
  readonly #sampler: UsageSampler;
  #node: { name: string; cpuCores: number; memoryBytes: number } | undefined;

  constructor(api: ApiServer, calls: JsonCalls, logger: Logger) {
    this.#api = api;
    this.#calls = calls;
    this.#sampler = new UsageSampler({ read: (signal) => this.#sample(signal), logger });
  }

  /**
   * Returns the samples later than `after` (Unix milliseconds). Rejects with `not_found` if there is no node to show, and with
   * `permission_denied` if the user may not read the node's statistics.
   */
  async read(after: number, signal: AbortSignal): Promise<NodeUsage> {
    this.#node ??= await this.#findNode(signal);
    const { name: node, cpuCores, memoryBytes } = this.#node;
    return { node, periodMs: SAMPLE_PERIOD_MS, cpuCores, memoryBytes, samples: await this.#sampler.samples(after) };
  }

  stop(): void {
    this.#sampler.stop();
  }

  async #findNode(signal: AbortSignal) {
    const name = await findNode(this.#api, this.#calls, signal);
    if (name === undefined)
      throw new PodwrightError(
        'not_found',
        'no node has the name of this host, and the cluster has more than one node, or none',
      );
    const object = await this.#calls.get(`/api/v1/nodes/${encodeURIComponent(name)}`, signal);
    const capacity = isRecord(object.status) && isRecord(object.status.capacity) ? object.status.capacity : {};
    const cpuCores = numberOf(capacity.cpu, (text) => Number(quantityMilliValue(text)) / 1000);
    return { name, cpuCores, memoryBytes: numberOf(capacity.memory, (text) => Number(quantityValue(text))) };
  }

  async #sample(signal: AbortSignal): Promise<UsageSample> {
    const path = `/api/v1/nodes/${encodeURIComponent(this.#node?.name ?? '')}/proxy/stats/summary`;
    const summary = await this.#calls.get(this.#api.isNode ? '/stats/summary' : path, signal);
    return sampleOf(summary, Date.now());
  }
}

function numberOf(quantity: unknown, convert: (text: string) => number): number {
  return typeof quantity === 'string' && isQuantity(quantity) ? convert(quantity) : 0;
}

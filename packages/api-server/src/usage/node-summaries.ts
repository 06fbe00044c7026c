/** Reads the CPU and memory usage of nodes and pods from kubelet statistics. */
import { errorMessage, gatherBytes, isRecord, type Logger, parseBoundedJson, withTimeout } from '@podwright/base';
import { answerTo } from '../backends/backend-response.ts';
import type { NodeConnector } from '../backends/node-connector.ts';

/** The kubelet's path for statistics of CPU and memory only. For other statistics, the kubelet would have to measure disk usage. */
const PATH = '/stats/summary?only_cpu_and_memory=true';
const TIMEOUT_MS = 10_000;
/**
 * Maximum size of a kubelet's response, and of its number of JSON values. The statistics of a thousand containers take about 1 MiB and have
 * 30,000 values. A node that joined the cluster may be hostile.
 */
const MAX_BYTES = 8 << 20;
const MAX_VALUES = 250_000;

/** `cpuNanoCores`: the average since the kubelet's previous measurement. `memoryBytes`: the working set. */
export type Use = { atMs: number; cpuNanoCores: number; memoryBytes: number };

export type PodUse = { namespace: string; name: string; containers: { name: string; use: Use }[] };

export type NodeUse = {
  /**
   * Usage of the whole node. Undefined until the kubelet has taken two measurements after its start, because CPU usage is computed from
   * two.
   */
  node: Use | undefined;
  /** Usage of each pod. A pod is omitted if the usage of one of its running containers is unknown. */
  pods: PodUse[];
};

/** Reads the usage of a node and its pods. If the kubelet does not respond, logs this and returns `undefined`. */
export async function readNodeUse(
  nodeName: string,
  { connector, logger }: { connector: NodeConnector; logger: Logger },
  given: AbortSignal,
): Promise<NodeUse | undefined> {
  using signal = withTimeout(given, TIMEOUT_MS, `read the statistics of the node ${nodeName}`);
  try {
    return decodeUse(await readSummary(connector, nodeName, signal));
  } catch (error) {
    given.throwIfAborted();
    logger.warn({ node: nodeName, error: errorMessage(error) }, 'the use of resources of a node is unknown');
    return undefined;
  }
}

async function readSummary(connector: NodeConnector, nodeName: string, signal: AbortSignal): Promise<unknown> {
  const outgoing = connector
    .kubelet(nodeName)
    .backend()
    .request({ method: 'GET', path: PATH, headers: { host: nodeName } });
  outgoing.end();
  const { response } = await answerTo(outgoing, signal);
  const abort = () => response.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (response.statusCode !== 200) throw new Error(`the kubelet responds with the status ${response.statusCode}`);
    const tooLarge = () => new Error(`the kubelet's answer has more than ${MAX_BYTES} bytes`);
    return parseBoundedJson(await gatherBytes(response, MAX_BYTES, tooLarge), MAX_VALUES);
  } finally {
    signal.removeEventListener('abort', abort);
    response.destroy();
  }
}

/** Decodes a kubelet's statistics summary. Values of the wrong type are ignored, because the node might run any kubelet. */
export function decodeUse(summary: unknown): NodeUse {
  const { node, pods } = isRecord(summary) ? summary : {};
  return { node: useOf(node), pods: listOf(pods).flatMap((pod) => podUse(pod) ?? []) };
}

function podUse(pod: Record<string, unknown>): PodUse | undefined {
  const { podRef, containers } = pod;
  if (!isRecord(podRef)) return undefined;
  const { namespace, name } = podRef;
  if (typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  const uses = listOf(containers).map((one) => ({ name: String(one.name), use: useOf(one) }));
  const known = uses.flatMap(({ name: container, use }) => (use === undefined ? [] : [{ name: container, use }]));
  return known.length === 0 || known.length < uses.length ? undefined : { namespace, name, containers: known };
}

function useOf(stats: unknown): Use | undefined {
  const { cpu, memory } = isRecord(stats) ? stats : {};
  if (!isRecord(cpu) || !isRecord(memory)) return undefined;
  const atMs = Date.parse(String(cpu.time));
  const cpuNanoCores = amountOf(cpu.usageNanoCores);
  const memoryBytes = amountOf(memory.workingSetBytes);
  if (Number.isNaN(atMs) || cpuNanoCores === undefined || memoryBytes === undefined) return undefined;
  return { atMs, cpuNanoCores, memoryBytes };
}

const amountOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);

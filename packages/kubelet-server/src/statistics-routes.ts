import { errorMessage, isProbeMetric, type Logger, metricsText, type Registry } from '@podwright/base';
import {
  containerMetrics,
  EXPOSITION_TYPE,
  exposition,
  type Kubelet,
  logMetrics,
  resourceMetrics,
  volumeMetrics,
} from '@podwright/kubelet';
import { ANY_METHOD, type ApiCall, type ApiRoute, sendText } from './api-route.ts';
import { hostMetrics, joinFamilies, machineMetrics } from './host-metrics.ts';
import { sendJson } from './http/api-call.ts';

type Parts = { kubelet: Kubelet; registry: Registry; logger: Logger };

const PROCESS_START = 'process_start_time_seconds';

/** Serves `/stats/summary` and the four `/metrics` endpoints. */
export function statisticsRoutes(parts: Parts): ApiRoute[] {
  const { registry } = parts;
  const page = (path: string, text: () => Promise<string>): ApiRoute => {
    const shared = sharedAnswer(text);
    const handler = async ({ response }: ApiCall) => {
      const body = await shared();
      response.writeHead(200, { 'content-type': EXPOSITION_TYPE }).end(body);
    };
    return { methods: ANY_METHOD, path, access: 'open', listed: true, handler };
  };
  return [
    { methods: ['GET', 'POST'], path: '/stats/summary', access: 'open', handler: (call) => sendSummary(parts, call) },
    page('/metrics', () => ownPage(parts)),
    page('/metrics/probes', () => metricsText(registry, (name) => isProbeMetric(name) || name === PROCESS_START)),
    page('/metrics/resource', () => resourcePage(parts)),
    page('/metrics/cadvisor', () => cadvisorPage(parts)),
  ];
}

/** Returns a function that calls `make`; calls made while one is in progress share its result. */
function sharedAnswer<T>(make: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= make().finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function sendSummary({ kubelet, logger }: Parts, { response, query }: ApiCall): Promise<void> {
  const values = query.getAll('only_cpu_and_memory');
  const isShort = values.length === 1 && values[0] === 'true';
  try {
    sendJson(response, await (isShort ? kubelet.summary.cpuAndMemory() : kubelet.summary.full()));
  } catch (error) {
    logger.warn({ error: errorMessage(error) }, 'failed to read statistics');
    sendText(response, 500, `Internal Error: ${errorMessage(error)}`);
  }
}

async function ownPage({ kubelet, registry }: Parts): Promise<string> {
  const own = await metricsText(registry, (name) => !isProbeMetric(name));
  const logs = await kubelet.summary.containerLogs();
  return own + exposition([...volumeMetrics(kubelet.summary.claimVolumes()), logMetrics(logs)]);
}

async function resourcePage({ kubelet, logger }: Parts): Promise<string> {
  const summary = await kubelet.summary.cpuAndMemory().catch((error: unknown) => {
    logger.warn({ error: errorMessage(error) }, 'failed to read statistics for /metrics/resource');
    return undefined;
  });
  return exposition(resourceMetrics(summary));
}

/**
 * Returns the metrics of the machine, the host and the containers, without the container metrics if the container runtime does not respond.
 */
async function cadvisorPage({ kubelet, logger }: Parts): Promise<string> {
  const orNone = (error: unknown): [] => {
    logger.warn({ error: errorMessage(error) }, 'failed to read statistics for /metrics/cadvisor');
    return [];
  };
  const [host, containers] = await Promise.all([
    kubelet.summary.host().then(hostMetrics).catch(orNone),
    containerMetrics(kubelet.cri, () => kubelet.summary.full()).catch(orNone),
  ]);
  return exposition(joinFamilies([...machineMetrics(kubelet.memoryBytes), ...host, ...containers]));
}

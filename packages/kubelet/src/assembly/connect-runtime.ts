import { errorCode, errorMessage, type Tracer } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import type { KubeletOptions } from '../options.ts';

/** How long the kubelet waits for an unavailable container runtime at startup before calling `RuntimeWait.onWait`. */
const RUNTIME_START_PATIENCE_MS = 2000;

/** What to do if the container runtime is unavailable when the kubelet starts. */
export type RuntimeWait = {
  /** Aborts the wait. The kubelet's startup then rejects with the signal's abort reason. */
  signal: AbortSignal;
  /** Called once, with the error, if the container runtime is unavailable. If it rejects, so does the kubelet's startup. */
  onWait: (reason: string) => Promise<void>;
};

/**
 * Connects to the container runtime at the configured endpoint. Rejects with `unimplemented` if the endpoint does not serve the CRI, and
 * with `unavailable` if the container runtime is down and `runtimeWait` is unset.
 */
export async function connectRuntime(
  options: KubeletOptions,
  tracer: Tracer,
  runtimeWait: RuntimeWait | undefined,
): Promise<CriClient> {
  const { runtimeEndpoint, imageEndpoint, criApiVersion: apiVersion, metrics, logger } = options;
  const requestTimeoutMs = options.runtimeRequestTimeoutMs;
  const signal = runtimeWait?.signal;
  const how = { runtimeEndpoint, imageEndpoint, apiVersion, requestTimeoutMs, metrics, logger, signal, tracer };
  try {
    return await connectCri({ ...how, connectTimeoutMs: runtimeWait && RUNTIME_START_PATIENCE_MS });
  } catch (error) {
    if (runtimeWait === undefined || signal?.aborted || errorCode(error) !== 'unavailable') throw error;
    const reason = errorMessage(error);
    logger.error({ endpoint: runtimeEndpoint, error: reason }, 'container runtime is down, waiting for it');
    await runtimeWait.onWait(reason);
    return await connectCri({ ...how, connectTimeoutMs: Number.POSITIVE_INFINITY });
  }
}

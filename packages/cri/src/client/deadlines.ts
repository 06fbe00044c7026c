import { DEFAULT_CALL_TIMEOUT_MS } from '../limits.ts';

/** The `timeout` field of some requests: the time in seconds that the container runtime may spend on the operation itself. */
type RequestTimeout = { timeout?: bigint };

/**
 * Returns the default deadline of a method in milliseconds, or `Infinity` for none, in which case the call runs until its signal aborts.
 * `usualMs` is the kubelet's `runtimeRequestTimeout`.
 *
 * - `runPodSandbox` has twice the usual deadline, because it sets up a network.
 * - For `stopContainer`, `execSync` and `checkpointContainer`, the request's `timeout` is added to the usual deadline. An `execSync` with
 *   timeout 0 is unbounded, so it has no deadline.
 * - `pullImage` and transfers have none, because their duration depends on the network. The caller watches the progress and aborts them.
 * - Watches have none.
 */
export function defaultTimeoutMs(
  method: string,
  request: RequestTimeout,
  usualMs: number = DEFAULT_CALL_TIMEOUT_MS,
): number {
  const ownMs = Math.max(0, Number(request.timeout ?? 0n) * 1000);
  switch (method) {
    case 'runPodSandbox':
      return 2 * usualMs;
    case 'stopContainer':
    case 'checkpointContainer':
      return usualMs + ownMs;
    case 'execSync':
      return ownMs === 0 ? Number.POSITIVE_INFINITY : usualMs + ownMs;
    case 'pullImage':
    case 'getContainerEvents':
    case 'watch':
    case 'load':
    case 'save':
      return Number.POSITIVE_INFINITY;
    default:
      return usualMs;
  }
}

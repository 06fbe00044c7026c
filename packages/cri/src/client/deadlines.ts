import { DEFAULT_CALL_TIMEOUT_MS } from '../limits.ts';

/** Seconds that a request gives the runtime to do its work, in fields that mean so. */
type RequestTimeout = { timeout?: bigint };

/**
 * How long a call may take when its caller says nothing, in ms; `undefined` is for ever (until its signal aborts). `usualMs` is the
 * kubelet's `runtimeRequestTimeout`.
 *
 * - `runPodSandbox` has twice the usual time, because a network is set up in it.
 * - `stopContainer`, `execSync` and `checkpointContainer` carry a timeout of their own for the work, which comes on top.
 *   An `execSync` whose timeout is 0 asked for no bound, and gets none.
 * - `pullImage` and transfers have none: how long an image takes is for the network to say. The caller watches
 *   the progress and aborts.
 * - A watch has none.
 */
export function defaultTimeoutMs(
  method: string,
  request: RequestTimeout,
  usualMs: number = DEFAULT_CALL_TIMEOUT_MS,
): number | undefined {
  const ownMs = Math.max(0, Number(request.timeout ?? 0n) * 1000);
  switch (method) {
    case 'runPodSandbox':
      return 2 * usualMs;
    case 'stopContainer':
    case 'checkpointContainer':
      return usualMs + ownMs;
    case 'execSync':
      return ownMs === 0 ? undefined : usualMs + ownMs;
    case 'pullImage':
    case 'getContainerEvents':
    case 'watch':
    case 'load':
    case 'save':
      return undefined;
    default:
      return usualMs;
  }
}

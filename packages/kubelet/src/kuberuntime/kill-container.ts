import { errorMessage, isNotFound, withTimeout } from '@podwright/base';
import { type Container, eventSubject, type Pod } from '@podwright/kube-api';
import {
  DEFAULT_GRACE_SECONDS,
  MAX_GRACE_SECONDS,
  MINIMUM_GRACE_SECONDS,
  STOP_MARGIN_MS,
} from '../kubecontainer/grace-periods.ts';
import { describePod } from '../kubecontainer/pod-identity.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import type { KillReason } from './pod-actions.ts';

export type KillRequest = {
  pod: Pod;
  /** The container's spec, if the pod's spec still contains it. */
  spec: Container | undefined;
  id: string;
  name: string;
  reason?: KillReason;
  /** The message of the event that reports the kill. */
  message?: string;
  /** Takes precedence over all other grace periods; 0 kills the container immediately. */
  gracePeriodSeconds?: number;
  /** The grace period from the container's annotations, for pods whose spec is no longer available. */
  recordedGraceSeconds?: number;
  podIps: string[];
  /** Waits for the containers that must exit before this sidecar is stopped, but no longer than `maxMs`. */
  waitForTurn?: (maxMs: number, signal: AbortSignal) => Promise<void>;
};

/** Returns the grace period in seconds: from the request, the failed probe, or the pod, in this order of precedence. */
export function gracePeriodSeconds(request: KillRequest): number {
  const { pod, spec, reason } = request;
  const probe =
    reason === 'livenessProbe' ? spec?.livenessProbe : reason === 'startupProbe' ? spec?.startupProbe : undefined;
  const seconds =
    request.gracePeriodSeconds ??
    probe?.terminationGracePeriodSeconds ??
    pod.metadata.deletionGracePeriodSeconds ??
    request.recordedGraceSeconds ??
    pod.spec.terminationGracePeriodSeconds ??
    DEFAULT_GRACE_SECONDS;
  return Math.min(seconds, MAX_GRACE_SECONDS);
}

/** Dependencies for stopping containers. */
export type KillContainerDependencies = Pick<KuberuntimeDependencies, 'cri' | 'events' | 'hooks' | 'logger' | 'tracer'>;

/**
 * Stops a container: runs its preStop hook, then sends SIGTERM and, after the grace period, SIGKILL. A no-op if the container has already
 * been removed.
 */
export async function killContainer(
  deps: KillContainerDependencies,
  request: KillRequest,
  signal: AbortSignal,
): Promise<void> {
  const { pod, name, id } = request;
  const graceSeconds = gracePeriodSeconds(request);
  const endsAtMs = performance.now() + graceSeconds * 1000;
  const remainingMs = () => Math.max(0, endsAtMs - performance.now());
  deps.events.event(eventSubject(pod, name), 'Normal', 'Killing', request.message ?? `Stopping container ${name}`);
  await runPreStop(deps, request, { graceMs: remainingMs(), signal });
  await request.waitForTurn?.(remainingMs(), signal);
  const seconds = Math.ceil(remainingMs() / 1000);
  const timeoutSeconds = graceSeconds === 0 ? 0 : Math.max(MINIMUM_GRACE_SECONDS, seconds);
  try {
    await deps.tracer.span(pod.metadata.uid, `stop ${name}`, () =>
      deps.cri.runtime.stopContainer(
        { containerId: id, timeout: BigInt(timeoutSeconds) },
        { signal, timeoutMs: timeoutSeconds * 1000 + STOP_MARGIN_MS },
      ),
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Runs the preStop hook. The container is stopped even if the hook fails or outlasts the grace period. */
async function runPreStop(
  deps: KillContainerDependencies,
  { pod, spec, id, name, podIps }: KillRequest,
  { graceMs, signal }: { graceMs: number; signal: AbortSignal },
): Promise<void> {
  const handler = spec?.lifecycle?.preStop;
  if (spec === undefined || handler === undefined || graceMs === 0) return;
  using limited = withTimeout(signal, graceMs, `preStop hook of container ${name}`);
  try {
    await deps.tracer.span(pod.metadata.uid, `preStop ${name}`, () =>
      deps.hooks.run({ pod, container: spec, containerId: id, podIps, handler }, limited),
    );
  } catch (error) {
    signal.throwIfAborted();
    deps.logger.warn({ pod: describePod(pod), container: name, error: errorMessage(error) }, 'a preStop hook failed');
    // omit the hook's output from the event, because it may contain secrets
    deps.events.event(eventSubject(pod, name), 'Warning', 'FailedPreStopHook', 'PreStopHook failed');
  }
}

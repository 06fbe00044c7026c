import { isNotFound, raceAbort, shownError, withTimeout } from '@podwright/base';
import { asRpcError } from '@podwright/grpc';
import { everyContainer, type Pod, sidecarsOf } from '@podwright/kube-api';
import {
  podAddresses,
  type RuntimeContainer,
  type RuntimePodStatus,
  runningContainers,
} from '../kubecontainer/runtime-pod.ts';
import type { StepResult } from '../kubecontainer/sync-result.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { type KillContainerDependencies, type KillRequest, killContainer } from './kill-container.ts';

export type KillPodRequest = {
  pod: Pod;
  status: RuntimePodStatus;
  gracePeriodSeconds?: number;
};

/** Dependencies for stopping pods. */
export type KillPodDependencies = KillContainerDependencies & Pick<KuberuntimeDependencies, 'hostIps'>;

/**
 * Stops a pod: its ordinary containers concurrently, then its sidecars from last to first, then its sandboxes. A failed step does not
 * prevent the others.
 */
export async function killPod(
  deps: KillPodDependencies,
  request: KillPodRequest,
  signal: AbortSignal,
): Promise<StepResult[]> {
  const containers = await killContainers(deps, request, signal);
  const failed = containers.some(({ error }) => error !== undefined);
  // if a container did not stop, leave the sandbox for the next attempt
  return failed ? containers : [...containers, ...(await stopSandboxes(deps, request, signal))];
}

async function killContainers(
  deps: KillPodDependencies,
  request: KillPodRequest,
  signal: AbortSignal,
): Promise<StepResult[]> {
  const running = runningContainers(request.status);
  const addresses = podAddresses(deps, request.pod, request.status);
  const order = terminationOrder(request.pod, running);
  const ended = new Map(running.map(({ id }) => [id, Promise.withResolvers<void>()]));
  return Promise.all(
    running.map(async (container): Promise<StepResult> => {
      const before = order(container).map((id) => ended.get(id)!.promise);
      const step: StepResult = { action: 'KillContainer', target: container.name };
      try {
        await killContainer(deps, { ...killRequest(request, container, before), podIps: addresses }, signal);
        return step;
      } catch (error) {
        signal.throwIfAborted();
        return { ...step, error: { reason: 'KillContainerError', message: shownError(asRpcError(error)) } };
      } finally {
        ended.get(container.id)!.resolve();
      }
    }),
  );
}

function killRequest(
  request: KillPodRequest,
  container: RuntimeContainer,
  before: Promise<void>[],
): Omit<KillRequest, 'podIps'> {
  const spec = everyContainer(request.pod.spec).find(({ name }) => name === container.name);
  return {
    pod: request.pod,
    spec,
    id: container.id,
    name: container.name,
    gracePeriodSeconds: request.gracePeriodSeconds,
    recordedGraceSeconds: container.terminationGracePeriodSeconds,
    waitForTurn: before.length === 0 ? undefined : (maxMs, signal) => waitAtMost(maxMs, before, signal),
  };
}

/** Waits until the given containers have exited, but for at most `maxMs`. Rejects only if the signal aborts. */
async function waitAtMost(maxMs: number, ended: Promise<void>[], signal: AbortSignal): Promise<void> {
  using limited = withTimeout(signal, maxMs, 'wait for the containers before this one');
  await raceAbort(Promise.all(ended), limited).catch(() => signal.throwIfAborted());
}

/**
 * Maps each container to the IDs of the containers that must exit before it is stopped. A sidecar waits for the ordinary containers and all
 * later sidecars.
 */
function terminationOrder(pod: Pod, running: RuntimeContainer[]): (container: RuntimeContainer) => string[] {
  const sidecars = sidecarsOf(pod).map(({ name }) => name);
  const main = pod.spec.containers.map(({ name }) => name);
  const idsOf = (matches: (name: string) => boolean) => running.filter(({ name }) => matches(name)).map(({ id }) => id);
  return ({ name }) => {
    const position = sidecars.indexOf(name);
    if (position < 0) return [];
    return idsOf((other) => main.includes(other) || sidecars.indexOf(other) > position);
  };
}

async function stopSandboxes(
  deps: KillPodDependencies,
  { pod, status }: KillPodRequest,
  signal: AbortSignal,
): Promise<StepResult[]> {
  return Promise.all(
    status.sandboxes.map(async ({ id }): Promise<StepResult> => {
      const step: StepResult = { action: 'KillPodSandbox', target: pod.metadata.uid };
      try {
        await deps.tracer.span(pod.metadata.uid, 'stop sandbox', () =>
          deps.cri.runtime.stopPodSandbox({ podSandboxId: id }, { signal }),
        );
        return step;
      } catch (error) {
        if (isNotFound(error)) return step;
        signal.throwIfAborted();
        return { ...step, error: { reason: 'KillPodSandboxError', message: shownError(asRpcError(error)) } };
      }
    }),
  );
}

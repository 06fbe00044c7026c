import { PodwrightError } from '@podwright/base';
import {
  allContainers,
  type Container,
  isSidecar,
  namespacedName,
  type Pod,
  restartsWhenKilled,
} from '@podwright/kube-api';
import { latestContainer, type RuntimeContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { shouldRestart } from '../kuberuntime/container-restart.ts';

/** The effect of a restart request: running containers to stop, and containers that skip their crash back-off. */
export type RestartPlan = { stop: RuntimeContainer[]; hurry: Container[] };

/**
 * Plans an in-place restart of a pod's ordinary containers, or of the single container or sidecar named `wanted`. Throws
 * `failed_precondition` if the pod or container cannot be restarted, and `not_found` if the pod has no such container. Pure.
 */
export function planRestart(pod: Pod, status: RuntimePodStatus, wanted: string | undefined): RestartPlan {
  const refuse = (why: string) =>
    new PodwrightError(
      'failed_precondition',
      `restart ${wanted === undefined ? '' : `container ${wanted} of `}pod ${namespacedName(pod)}: ${why}`,
    );
  if (pod.metadata.deletionTimestamp !== undefined) throw refuse('it is being deleted');
  const { phase } = pod.status ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') throw refuse(`it has ended (${phase}); apply it again`);
  if (!chosen(pod, wanted).some((container) => restartsWhenKilled(pod, container)))
    throw refuse(
      'its restartPolicy is Never, so a stopped container would not start again; delete the pod and apply it again',
    );
  const plan: RestartPlan = { stop: [], hurry: [] };
  for (const container of chosen(pod, wanted)) {
    if (wanted === undefined && !restartsWhenKilled(pod, container)) continue;
    const current = latestContainer(status, container.name);
    if (current?.state === 'running') plan.stop.push(current);
    else if (current?.state === 'exited' && shouldRestart(pod, container, current)) plan.hurry.push(container);
    else if (wanted !== undefined) throw refuse(current === undefined ? 'it has not started yet' : 'it does not run');
  }
  if (plan.stop.length + plan.hurry.length === 0) throw refuse('none of its containers runs');
  return plan;
}

function chosen(pod: Pod, wanted: string | undefined): Container[] {
  if (wanted === undefined) return pod.spec.containers;
  const found = allContainers(pod.spec).find(({ name }) => name === wanted);
  if (found === undefined) {
    const names = allContainers(pod.spec).map(({ name }) => name);
    throw new PodwrightError(
      'not_found',
      `pod ${namespacedName(pod)} has no container ${wanted}; it has ${names.join(', ')}`,
    );
  }
  if (pod.spec.containers.includes(found) || isSidecar(found)) return [found];
  const message = `restart container ${wanted} of pod ${namespacedName(pod)}: it is an init container, which runs once`;
  throw new PodwrightError('failed_precondition', message);
}

/** Decides when a container is killed and whether it is started again. Pure. */
import { type Container, type Pod, restartsAfter } from '@podwright/kube-api';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { containerHash } from './labels.ts';
import type { ContainerToKill, KillReason, PodActionsInput } from './pod-actions.ts';
import { type ContainerToUpdate, decideResize } from './resize-actions.ts';

/** Returns the reason why a running container must be killed; `undefined` if it can keep running. */
export function reasonToKill(
  container: Container,
  current: RuntimeContainer,
  { pod, probes, restartRequested }: Pick<PodActionsInput, 'pod' | 'probes' | 'restartRequested'>,
): { reason: KillReason; message: string } | undefined {
  const what = `${kindOf(pod, container.name)} ${container.name}`;
  if (current.hash !== '' && current.hash !== containerHash(container)) {
    return { reason: 'definitionChanged', message: `${what} definition changed` };
  }
  if (container.livenessProbe !== undefined && probes.liveness(current.id) === 'failure') {
    return { reason: 'livenessProbe', message: `${what} failed liveness probe` };
  }
  if (container.startupProbe !== undefined && probes.startup(current.id) === 'failure') {
    return { reason: 'startupProbe', message: `${what} failed startup probe` };
  }
  if (restartRequested?.(current.id)) {
    return { reason: 'restartRequested', message: `Restart of container ${container.name} was requested` };
  }
  return undefined;
}

/** Plans to kill a container in the unknown state before it is replaced, because it might still be running. */
export function killUnknown(pod: Pod, container: RuntimeContainer): ContainerToKill {
  const message = `${kindOf(pod, container.name)} is in "unknown" state, try killing it before restart`;
  return { id: container.id, name: container.name, reason: 'unknownState', message };
}

function kindOf(pod: Pod, containerName: string): 'Container' | 'Init container' {
  return pod.spec.containers.some(({ name }) => name === containerName) ? 'Container' : 'Init container';
}

/** Whether a container that is not running should be started or restarted, according to its state, its exit code and the restart policy. */
export function shouldRestart(pod: Pod, container: Container, current: RuntimeContainer | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (current === undefined || current.state === 'created' || current.state === 'unknown') return true;
  return restartsAfter(pod, container, current.exitCode);
}

/** Decides how to apply a resource change to a running container: not at all, in place, or by a restart. */
export function planResize(
  { pod, actuated }: Pick<PodActionsInput, 'pod' | 'actuated'>,
  container: Container,
  current: RuntimeContainer,
): { start: boolean; kill?: ContainerToKill; update?: ContainerToUpdate } {
  const { id, name } = current;
  const resize = decideResize(pod, container, { id, name, given: actuated?.(current) });
  if (resize.kind === 'none') return { start: false };
  if (resize.kind === 'update') return { start: false, update: resize.update };
  const message = `Container ${container.name} resize requires restart`;
  return { start: true, kill: { id: current.id, name: current.name, reason: 'resize', message } };
}

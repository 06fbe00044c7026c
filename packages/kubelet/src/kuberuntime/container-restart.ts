/** When a container is killed, and whether it is started again. Pure. */
import type { Container, Pod } from '../api/types.ts';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { containerHash } from './labels.ts';
import type { ContainerToKill, KillReason, PodActionsInput } from './pod-actions.ts';

/** Why a running container must end, if it must. */
export function reasonToKill(
  container: Container,
  current: RuntimeContainer,
  { probes, restartRequested }: Pick<PodActionsInput, 'probes' | 'restartRequested'>,
): { reason: KillReason; message: string } | undefined {
  const name = container.name;
  if (current.hash !== '' && current.hash !== containerHash(container)) {
    return { reason: 'definitionChanged', message: `Container ${name} definition changed` };
  }
  if (container.livenessProbe !== undefined && probes.liveness(current.id) === 'failure') {
    return { reason: 'livenessProbe', message: `Container ${name} failed liveness probe` };
  }
  if (container.startupProbe !== undefined && probes.startup(current.id) === 'failure') {
    return { reason: 'startupProbe', message: `Container ${name} failed startup probe` };
  }
  if (restartRequested?.(current.id)) {
    return { reason: 'restartRequested', message: `Restart of container ${name} was requested` };
  }
  return undefined;
}

/** It may still run, so it is killed before another is started. */
export function killUnknown(container: RuntimeContainer): ContainerToKill {
  const message = 'Container is in an unknown state, try killing it before restart';
  return { id: container.id, name: container.name, reason: 'unknownState', message };
}

/** True unless the pod's restart policy leaves a failed container as it is. */
export function restartsOnFailure(pod: Pod): boolean {
  return pod.spec.restartPolicy !== 'Never';
}

/** Whether an ordinary container that does not run should be started (again). */
export function shouldRestart(pod: Pod, current: RuntimeContainer | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (current === undefined || current.state === 'created' || current.state === 'unknown') return true;
  if (pod.spec.restartPolicy === 'Never') return false;
  return pod.spec.restartPolicy !== 'OnFailure' || current.exitCode !== 0;
}

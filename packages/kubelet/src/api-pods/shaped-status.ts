import { isRecord } from '@podwright/base';
import type { ContainerStatus, PodCondition, PodPhase, PodStatus } from '@podwright/kube-api';

const PHASES: readonly string[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] satisfies PodPhase[];

/** Returns a pod status from the API server, minus fields that have the wrong type. */
export function shapedStatus(value: unknown): PodStatus | undefined {
  if (!isRecord(value) || !PHASES.includes(value.phase as string)) return undefined;
  const status: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) if (field !== null) status[key] = shaped(key, field);
  return status as PodStatus;
}

function shaped(key: string, field: unknown): unknown {
  switch (key) {
    case 'conditions':
      return maps(field).filter((one): one is PodCondition => typeof one.type === 'string');
    case 'initContainerStatuses':
    case 'containerStatuses':
    case 'ephemeralContainerStatuses':
      return maps(field).map(containerStatus);
    case 'podIPs':
    case 'hostIPs':
      return maps(field).filter(({ ip }) => typeof ip === 'string');
    default:
      return field;
  }
}

function containerStatus(one: Record<string, unknown>): ContainerStatus {
  const { state, lastState, restartCount } = one;
  return {
    ...(one as ContainerStatus),
    state: isRecord(state) ? state : {},
    lastState: isRecord(lastState) ? lastState : {},
    restartCount: typeof restartCount === 'number' ? restartCount : 0,
  };
}

function maps(field: unknown): Record<string, unknown>[] {
  return Array.isArray(field) ? field.filter(isRecord) : [];
}

/** Functions that read the states of a pod's containers and the pod's events. Pure. */
import { type Container, type ContainerStatus, findCondition, type Pod } from '@podwright/kube-api';
import type { PodFacts, ViewedEvent } from './finding.ts';

type Terminated = NonNullable<ContainerStatus['state']['terminated']>;

/** Returns the statuses of a pod's init containers and containers. */
export function containerStatusesOf({ status = { phase: 'Pending' } }: Pod): ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

/** Returns the pod's container or init container with this name. */
export function containerOf({ spec }: Pod, name: string): Container | undefined {
  return [...(spec.initContainers ?? []), ...spec.containers].find((container) => container.name === name);
}

/** Returns the first container waiting for one of these reasons, with the reason and message of its state. */
export function waitingFor(
  pod: Pod,
  reasons: readonly string[],
): { name: string; reason: string; message: string } | undefined {
  for (const { name, state } of containerStatusesOf(pod)) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (reasons.includes(reason)) return { name, reason, message };
  }
  return undefined;
}

/** The last termination of a container: from `state` or, if it is running or waiting again, from `lastState`. */
export type ContainerEnd = { status: ContainerStatus; end: Terminated };

/** Returns the last terminations of containers that are not ready, failures first. */
export function endsOf(pod: Pod): ContainerEnd[] {
  const ends = containerStatusesOf(pod).flatMap((status) => {
    const end = status.state?.terminated ?? status.lastState?.terminated;
    return end === undefined || status.ready ? [] : [{ status, end }];
  });
  return ends.sort((a, b) => Number(a.end.exitCode === 0) - Number(b.end.exitCode === 0));
}

/** Returns the newest event that has one of these reasons and a matching message. */
export function lastEvent(
  { events }: Pick<PodFacts, 'events'>,
  reasons: readonly string[],
  message = /^/,
): ViewedEvent | undefined {
  return events.findLast((event) => reasons.includes(event.reason) && message.test(event.message));
}

/** Returns the container that an event is about, from its field path `spec.containers{NAME}`. */
export function containerOfEvent({ involvedObject }: ViewedEvent): string | undefined {
  return /\{(.+)\}$/.exec(involvedObject?.fieldPath ?? '')?.[1];
}

export const conditionOf = ({ status }: Pod, wanted: string) => findCondition(status?.conditions, wanted);

/** Returns the first line of a text, trimmed and limited to 300 characters. */
export function firstLine(text: string): string {
  const line = text.trim().split('\n')[0]!.trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

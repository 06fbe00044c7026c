/** Functions that read the states of a pod's containers and its events. Pure. */
import { type Container, type ContainerStatus, findCondition, type Pod } from '@podwright/kube-api';
import type { PodFacts, ViewedEvent } from './finding.ts';

type Terminated = NonNullable<ContainerStatus['state']['terminated']>;

/** Returns the statuses of init containers and containers. */
export function containerStatusesOf({ status = { phase: 'Pending' } }: Pod): ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

/** Returns the container, or init container, of a pod with this name. */
export function containerOf({ spec }: Pod, name: string): Container | undefined {
  return [...(spec.initContainers ?? []), ...spec.containers].find((container) => container.name === name);
}

/** Returns the first container in the state `waiting` with one of the reasons, and the reason and message of the state. */
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

/** The last termination of a container: from `state` or, if the container runs or waits again, from `lastState`. */
export type ContainerEnd = { status: ContainerStatus; end: Terminated };

/** Returns the last terminations of containers that are not ready. Failures come first. */
export function endsOf(pod: Pod): ContainerEnd[] {
  const ends = containerStatusesOf(pod).flatMap((status) => {
    const end = status.state?.terminated ?? status.lastState?.terminated;
    return end === undefined || status.ready ? [] : [{ status, end }];
  });
  return ends.sort((a, b) => Number(a.end.exitCode === 0) - Number(b.end.exitCode === 0));
}

/** Returns the newest event with one of the reasons whose message matches. */
export function lastEvent({ events }: PodFacts, reasons: readonly string[], message = /^/): ViewedEvent | undefined {
  return events.findLast((event) => reasons.includes(event.reason) && message.test(event.message));
}

/** Returns the container that an event is about, from its field path `spec.containers{NAME}`. */
export function containerOfEvent({ involvedObject }: ViewedEvent): string | undefined {
  return /\{(.+)\}$/.exec(involvedObject?.fieldPath ?? '')?.[1];
}

export const conditionOf = ({ status }: Pod, wanted: string) => findCondition(status?.conditions, wanted);

/** Returns the first line, without the whitespace around it, of at most 300 characters. */
export function firstLine(text: string): string {
  const line = text.trim().split('\n')[0]!.trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

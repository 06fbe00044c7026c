import { findCondition, formatTime, type NodeCondition } from '@podwright/kube-api';
import type { NodePressure, PressureCondition } from '@podwright/kubelet-configuration';
import { aggregate, type NodeObject } from '../node/node-object.ts';
import type { ObservedNode } from './observed-node.ts';

/** An event about the node. */
export type NodeEvent = { type: 'Normal' | 'Warning'; reason: string; message: string };

type PressureWords = { reason: string; message: string; event: string };

const PRESSURES: {
  type: PressureCondition;
  of: 'memory' | 'disk' | 'pids';
  short: PressureWords;
  fine: PressureWords;
}[] = [
  {
    type: 'MemoryPressure',
    of: 'memory',
    short: {
      reason: 'KubeletHasInsufficientMemory',
      message: 'kubelet has insufficient memory available',
      event: 'NodeHasInsufficientMemory',
    },
    fine: {
      reason: 'KubeletHasSufficientMemory',
      message: 'kubelet has sufficient memory available',
      event: 'NodeHasSufficientMemory',
    },
  },
  {
    type: 'DiskPressure',
    of: 'disk',
    short: { reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure', event: 'NodeHasDiskPressure' },
    fine: {
      reason: 'KubeletHasNoDiskPressure',
      message: 'kubelet has no disk pressure',
      event: 'NodeHasNoDiskPressure',
    },
  },
  {
    type: 'PIDPressure',
    of: 'pids',
    short: {
      reason: 'KubeletHasInsufficientPID',
      message: 'kubelet has insufficient PID available',
      event: 'NodeHasInsufficientPID',
    },
    fine: {
      reason: 'KubeletHasSufficientPID',
      message: 'kubelet has sufficient PID available',
      event: 'NodeHasSufficientPID',
    },
  },
];

/** Returns the events for pressure conditions that have changed. */
export function pressureEvents(node: string, changed: readonly PressureCondition[], now: NodePressure) {
  const words = changed.map((type) => ({ ...PRESSURES.find((one) => one.type === type)!, isShort: now.has(type) }));
  return words.map(({ short, fine, isShort }) => nodeStatusEvent(node, isShort ? short.event : fine.event));
}

/**
 * Returns the pressure conditions of a standalone node. Conditions that have never changed have the kubelet's start as their transition
 * time.
 */
export function pressureConditions(now: NodePressure, startedAtMs: number): NodeObject['status']['conditions'] {
  return PRESSURES.map(({ type, short, fine }) => {
    const { reason, message } = now.has(type) ? withDetail(short, now.detailOf(type)) : fine;
    const lastTransitionTime = formatTime(now.changedAtMs(type) ?? startedAtMs);
    return { type, status: now.has(type) ? 'True' : 'False', reason, message, lastTransitionTime };
  });
}

const withDetail = (words: PressureWords, detail = ''): PressureWords =>
  detail === '' ? words : { ...words, message: `${words.message}: ${detail}` };

/** Returns upstream's event for a change of the node's status. */
export function nodeStatusEvent(name: string, reason: string): NodeEvent {
  return { type: 'Normal', reason, message: `Node ${name} status is now: ${reason}` };
}

/** Resources that a node must have to be ready. */
const REQUIRED_CAPACITY = ['cpu', 'memory', 'pods', 'ephemeral-storage'];

/** The node's conditions, including those set by other writers, and the events for the changed ones. */
export type ConditionsUpdate = { conditions: NodeCondition[]; events: string[] };

/** Updates the conditions in upstream's order: new ones are appended, with Ready last. */
export function updateConditions(
  known: readonly NodeCondition[],
  seen: Pick<ObservedNode, 'atMs' | 'pressure' | 'problems'>,
  capacity: Record<string, string>,
): ConditionsUpdate {
  const now = formatTime(seen.atMs);
  const conditions = [...known];
  const events: string[] = [];
  const put = (next: NodeCondition, event: string | undefined) => {
    const at = conditions.findIndex(({ type }) => type === next.type);
    if (at === -1) conditions.push(next);
    else conditions[at] = next;
    if (event !== undefined) events.push(event);
  };
  const find = (type: string) => findCondition(conditions, type);
  for (const { type, of, short, fine } of PRESSURES) {
    const detail = of === 'disk' ? seen.pressure.diskDetail : undefined;
    const words = seen.pressure[of] ? withDetail(short, detail) : fine;
    const status = seen.pressure[of] ? 'True' : 'False';
    const before = find(type);
    if (before?.status === status) put({ ...before, message: words.message, lastHeartbeatTime: now }, undefined);
    else put({ ...before, ...condition(type, status, words), ...at(now, undefined) }, words.event);
  }
  const before = find('Ready');
  const ready = readyCondition([...seen.problems, ...missingCapacity(capacity)]);
  const isSame = before?.status === ready.status;
  const event = before === undefined || isSame ? undefined : ready.status === 'True' ? 'NodeReady' : 'NodeNotReady';
  put({ ...ready, ...at(now, isSame ? before?.lastTransitionTime : undefined) }, event);
  return { conditions, events };
}

const condition = (
  type: string,
  status: NodeCondition['status'],
  { reason, message }: Omit<PressureWords, 'event'>,
) => ({
  ...{ type, status, reason, message },
});

const at = (now: string, sinceThen: string | undefined) => ({
  lastHeartbeatTime: now,
  lastTransitionTime: sinceThen ?? now,
});

function readyCondition(problems: string[]): NodeCondition {
  return problems.length === 0
    ? condition('Ready', 'True', { reason: 'KubeletReady', message: 'kubelet is posting ready status' })
    : condition('Ready', 'False', { reason: 'KubeletNotReady', message: aggregate(problems) });
}

function missingCapacity(capacity: Record<string, string>): string[] {
  const missing = REQUIRED_CAPACITY.filter((name) => capacity[name] === undefined);
  return missing.length === 0 ? [] : [`missing node capacity for resources: ${missing.join(', ')}`];
}

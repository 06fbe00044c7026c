/** All causes, in the order in which they are tried. The first match explains the pod. */
import { isConditionTrue, podSummary } from '@podwright/kube-api';
import { endedAgain, livenessKill, outOfMemory } from './exit.ts';
import type { Finding, PodCause, PodFacts } from './finding.ts';
import { imagePull } from './image.ts';
import { refusedByNode, stuckDeletion, unschedulable } from './placement.ts';
import { readinessGate, readinessProbe, warningEvent } from './probes.ts';
import { hookFailure, sandboxFailure, startFailure, volumeFailure } from './start.ts';

const CAUSES: readonly PodCause[] = [
  stuckDeletion,
  refusedByNode,
  unschedulable,
  volumeFailure,
  sandboxFailure,
  imagePull,
  hookFailure,
  startFailure,
  outOfMemory,
  livenessKill,
  endedAgain,
  readinessProbe,
  readinessGate,
  warningEvent,
];

/** Explains why a pod is neither ready nor complete. Pure. */
export function explainPod(facts: PodFacts): Finding {
  for (const cause of CAUSES) {
    const finding = cause(facts);
    if (finding !== undefined) return finding;
  }
  return { cause: 'starting', sentence: `it is starting (${podSummary(facts.pod).status})`, advice: [] };
}

/** Whether a pod needs no explanation: it is not being deleted, and is ready or has succeeded. */
export function isPodWell({ metadata, status }: PodFacts['pod']): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const isReady = isConditionTrue(status?.conditions, 'Ready');
  return status?.phase === 'Succeeded' || (status?.phase === 'Running' && isReady);
}

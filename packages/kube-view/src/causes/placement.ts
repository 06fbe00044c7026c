/** Causes for pods that cannot be scheduled, and for pods rejected or terminated by their node. */
import { claimOf, pendingClaim } from './claims.ts';
import { conditionOf, firstLine } from './containers.ts';
import type { Finding, PodCause, PodFacts } from './finding.ts';

/** Patterns in the scheduler's message about a pod that it cannot place. The first match wins. */
const UNFIT: [cause: string, pattern: RegExp, sentence: string, advice: string][] = [
  [
    'host-port',
    /didn't have free ports/,
    'another pod uses the host port that it requests (hostPort)',
    'Use another hostPort, a Service of type NodePort, or end the pod that has the port.',
  ],
  [
    'resources',
    /Insufficient ([\w/-]+(?:\.[\w/-]+)*)/,
    'the node has too little $1 left for its requests',
    "Lower the pod's requests, or end pods that hold the resource.",
  ],
  [
    'too-many-pods',
    /Too many pods/,
    'the node has as many pods as it may run',
    'End pods, or raise maxPods in the configuration of the kubelet.',
  ],
  [
    'node-selector',
    /didn't match Pod's node affinity|didn't match node selector/,
    "no node has the labels that the pod's nodeSelector or node affinity requires",
    'Correct the selector, or label the node.',
  ],
  [
    'anti-affinity',
    /anti-affinity|pod affinity/,
    'its pod affinity or anti-affinity rules cannot be met',
    'On one node, use preferred instead of required rules, or fewer replicas.',
  ],
  [
    'topology-spread',
    /topology spread/,
    'its topology spread constraints cannot be met',
    'Use whenUnsatisfiable: ScheduleAnyway, or label the nodes with the topology key.',
  ],
];

export const unschedulable: PodCause = (facts) => {
  const condition = conditionOf(facts.pod, 'PodScheduled');
  if (condition?.status !== 'False') return undefined;
  const message = condition.message ?? '';
  if (condition.reason === 'SchedulingGated')
    return {
      cause: 'scheduling-gate',
      sentence: 'a scheduling gate prevents its scheduling (spec.schedulingGates)',
      advice: ['The controller that added the gate removes it.'],
    };
  const claim = claimOf(facts, message);
  if (claim !== undefined) return pendingClaim(claim);
  if (message.includes('untolerated taint')) return tainted(facts);
  if (message.includes('were unschedulable'))
    return cordoned(facts.nodes.find(({ spec }) => spec?.unschedulable)?.metadata.name);
  for (const [cause, pattern, sentence, advice] of UNFIT) {
    const match = pattern.exec(message);
    if (match === null) continue;
    return { cause, sentence: `it cannot be scheduled: ${sentence.replace('$1', match[1] ?? '')}`, advice: [advice] };
  }
  return { cause: 'unschedulable', sentence: `it cannot be scheduled: ${firstLine(message)}`, advice: [] };
};

/** Taints that controllers set for node conditions, with the type of the condition. */
const CONDITION_OF: Record<string, string> = {
  'node.kubernetes.io/not-ready': 'Ready',
  'node.kubernetes.io/unreachable': 'Ready',
  'node.kubernetes.io/memory-pressure': 'MemoryPressure',
  'node.kubernetes.io/disk-pressure': 'DiskPressure',
  'node.kubernetes.io/pid-pressure': 'PIDPressure',
  'node.kubernetes.io/network-unavailable': 'NetworkUnavailable',
};

/** Returns the finding for cordoned nodes. `name`: the name of one of them, if the user may list nodes. */
function cordoned(name: string | undefined): Finding {
  return {
    cause: 'cordoned',
    sentence: `it cannot be scheduled: ${name === undefined ? 'the nodes are' : `node ${name} is`} cordoned`,
    advice: [`Make it schedulable again: \`kubectl uncordon ${name ?? 'NODE'}\`.`],
  };
}

function tainted({ nodes }: PodFacts): Finding {
  for (const { metadata, spec, status } of nodes) {
    for (const { key } of spec?.taints ?? []) {
      const condition = status?.conditions?.find(({ type }) => type === CONDITION_OF[key]);
      if (condition !== undefined)
        return {
          cause: condition.type === 'Ready' ? 'node-not-ready' : 'node-pressure',
          sentence: `it cannot be scheduled: node ${metadata.name} reports ${condition.type}=${condition.status}: ${firstLine(condition.message ?? '')}`,
          advice: ['Fix what the node reports; the pod is scheduled afterwards.'],
        };
      if (key === 'node.kubernetes.io/unschedulable') return cordoned(metadata.name);
    }
  }
  const keys = [...new Set(nodes.flatMap(({ spec }) => (spec?.taints ?? []).map(({ key }) => key)))];
  return {
    cause: 'taint',
    sentence: `it cannot be scheduled: it does not tolerate ${keys.length === 0 ? 'the taints of the nodes' : `the taint ${keys.join(', ')}`}`,
    advice: ['Add a toleration to the pod, or remove the taint: `kubectl taint nodes NODE KEY-`.'],
  };
}

/** Status reasons of pods rejected or terminated by their node. */
const REFUSED: Record<string, [cause: string, advice: string]> = {
  Evicted: [
    'evicted',
    'Set requests and limits for what it uses (memory, ephemeral-storage), or free the resource on the node.',
  ],
  Preempting: [
    'preempted',
    'A pod with a higher priority replaced it: give it a PriorityClass, or free resources of the node.',
  ],
  OutOfcpu: ['resources', "Lower the pod's CPU request, or end other pods."],
  OutOfmemory: ['resources', "Lower the pod's memory request, or end other pods."],
  OutOfpods: ['too-many-pods', 'End pods, or raise maxPods in the configuration of the kubelet.'],
  NodePorts: ['host-port', 'Use another hostPort, or end the pod that has the port.'],
  NodeAffinity: ['node-selector', 'Correct the nodeSelector or the node affinity, or label the node.'],
  DeadlineExceeded: ['deadline', 'Raise activeDeadlineSeconds, or make the work shorter.'],
  Terminated: ['node-shutdown', 'The machine was shut down. If a workload owns the pod, it creates a new one.'],
};

export const refusedByNode: PodCause = ({ pod }) => {
  const { phase, reason = '', message = '' } = pod.status ?? {};
  if (phase !== 'Failed' || reason === '') return undefined;
  const [cause, advice] = REFUSED[reason] ?? ['refused', 'Correct what the message names.'];
  return { cause, sentence: `it has ended with ${reason}: ${firstLine(message)}`, advice: [advice] };
};

/** Recognizes pods that are being deleted, even if the deletion is overdue. */
export const stuckDeletion: PodCause = ({ pod, now }) => {
  const { deletionTimestamp, finalizers = [] } = pod.metadata;
  if (deletionTimestamp === undefined) return undefined;
  if (finalizers.length > 0)
    return {
      cause: 'finalizer',
      sentence: `it is being deleted and waits for the finalizer ${finalizers.join(', ')}`,
      advice: [
        'The controller that added the finalizer removes it. If that controller no longer exists, remove the finalizer by a patch.',
      ],
    };
  const lateMs = now - Date.parse(deletionTimestamp);
  if (lateMs < 5000)
    return { cause: 'terminating', sentence: `it is being deleted, by ${deletionTimestamp} at the latest`, advice: [] };
  return {
    cause: 'stuck-termination',
    sentence: `it should have ended ${Math.round(lateMs / 1000)} s ago`,
    advice: ["Its events and the node's log show the step that fails."],
  };
};

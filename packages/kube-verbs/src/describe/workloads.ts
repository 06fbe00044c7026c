import type { LabelSelector, Pod } from '@podwright/kube-api';
import type { Lines } from '../text/aligned.ts';
import { labelsText, selectorText } from '../text/selector-text.ts';
import { type Condition, REVISION, type Workload } from '../workload.ts';
import { controllerOf, describeAnnotations, describeLabels, timeText } from './metadata.ts';
import { describePodTemplate } from './pod-template.ts';

/** The pods and ReplicaSets needed to describe a workload, or why they cannot be read. */
export type Surroundings = { pods: readonly Pod[] | Error; replicaSets: readonly Workload[] | Error };

export function describeDeployment(lines: Lines, deployment: Workload, { replicaSets }: Surroundings): void {
  const { metadata, spec, status = {} } = deployment;
  describeHead(lines, deployment, ['CreationTimestamp', 'Labels', 'Annotations', 'Selector']);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, unavailableReplicas = 0 } = status;
  lines.field(
    'Replicas',
    `${spec.replicas} desired | ${updatedReplicas} updated | ${replicas} total | ${availableReplicas} available | ${unavailableReplicas} unavailable`,
  );
  lines.field('StrategyType', spec.strategy?.type ?? '');
  lines.field('MinReadySeconds', spec.minReadySeconds ?? 0);
  const rolling = spec.strategy?.rollingUpdate;
  if (rolling !== undefined)
    lines.field('RollingUpdateStrategy', `${rolling.maxUnavailable} max unavailable, ${rolling.maxSurge} max surge`);
  describePodTemplate(lines, spec.template);
  describeConditions(lines, status.conditions);
  if (replicaSets instanceof Error)
    return lines.field('NewReplicaSet', `error in fetching ReplicaSets: ${replicaSets.message}`);
  const own = replicaSets.filter((one) => one.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  const current = own.find((one) => one.metadata.annotations?.[REVISION] === metadata.annotations?.[REVISION]);
  const old = own.filter((one) => one !== current && (one.spec.replicas ?? 0) > 0);
  lines.field('OldReplicaSets', old.map(createdText).join(', ') || '<none>');
  lines.field('NewReplicaSet', current === undefined ? '<none>' : createdText(current));
}

const createdText = ({ metadata, spec, status }: Workload): string =>
  `${metadata.name} (${status?.replicas ?? 0}/${spec.replicas ?? 0} replicas created)`;

/** Describes a ReplicaSet or a ReplicationController. */
export function describeReplicaSet(lines: Lines, set: Workload, { pods }: Surroundings): void {
  describeHead(lines, set, ['Selector', 'Labels', 'Annotations', 'Controlled By']);
  lines.field('Replicas', `${set.status?.replicas ?? 0} current / ${set.spec.replicas ?? 0} desired`);
  lines.field('Pods Status', podsStatus(pods));
  describePodTemplate(lines, set.spec.template);
  describeConditions(lines, set.status?.conditions);
}

export function describeStatefulSet(lines: Lines, set: Workload, { pods }: Surroundings): void {
  const { spec, status = {} } = set;
  describeHead(lines, set, ['CreationTimestamp', 'Selector', 'Labels', 'Annotations']);
  lines.field('Replicas', `${spec.replicas ?? 0} desired | ${status.replicas ?? 0} total`);
  lines.field('Update Strategy', spec.updateStrategy?.type ?? '');
  const { partition, maxUnavailable } = spec.updateStrategy?.rollingUpdate ?? {};
  if (partition !== undefined) lines.add(1, `Partition:\t${partition}`);
  if (maxUnavailable !== undefined) lines.add(1, `MaxUnavailable:\t${maxUnavailable}`);
  lines.field('Pods Status', podsStatus(pods));
  describePodTemplate(lines, spec.template);
  const claims = spec.volumeClaimTemplates ?? [];
  lines.add(0, claims.length === 0 ? 'Volume Claims:\t<none>' : 'Volume Claims:');
  for (const { metadata, spec: claim } of claims) {
    lines.add(1, `Name:\t${metadata.name}\n  StorageClass:\t${claim.storageClassName ?? ''}`);
    describeLabels(lines, metadata.labels, 1);
    describeAnnotations(lines, metadata.annotations, 1);
    const { storage = '<default>' } = claim.resources?.requests ?? {};
    lines.add(1, `Capacity:\t${storage}\n  Access Modes:\t[${(claim.accessModes ?? []).join(' ')}]`);
  }
}

export function describeDaemonSet(lines: Lines, set: Workload, { pods }: Surroundings): void {
  const { spec, status = {} } = set;
  describeHead(lines, set, ['Selector', 'Node-Selector', 'Labels', 'Annotations']);
  const { desiredNumberScheduled = 0, currentNumberScheduled = 0, updatedNumberScheduled = 0 } = status;
  lines.add(0, `Desired Number of Nodes Scheduled: ${desiredNumberScheduled}`);
  lines.add(0, `Current Number of Nodes Scheduled: ${currentNumberScheduled}`);
  lines.add(0, `Number of Nodes Scheduled with Up-to-date Pods: ${updatedNumberScheduled}`);
  lines.add(0, `Number of Nodes Scheduled with Available Pods: ${status.numberAvailable ?? 0}`);
  lines.add(0, `Number of Nodes Misscheduled: ${status.numberMisscheduled ?? 0}`);
  lines.field('Pods Status', podsStatus(pods));
  describePodTemplate(lines, spec.template);
}

type HeadField = 'CreationTimestamp' | 'Labels' | 'Annotations' | 'Selector' | 'Controlled By' | 'Node-Selector';

/** Describes the name, the namespace and the given fields of a workload, in this order. */
export function describeHead(lines: Lines, { metadata, spec }: Workload, fields: readonly HeadField[]): void {
  lines.field('Name', metadata.name);
  lines.field('Namespace', metadata.namespace ?? '');
  const owner = controllerOf(metadata);
  const describe: Record<HeadField, () => void> = {
    CreationTimestamp: () => lines.field('CreationTimestamp', timeText(metadata.creationTimestamp)),
    Labels: () => describeLabels(lines, metadata.labels),
    Annotations: () => describeAnnotations(lines, metadata.annotations),
    Selector: () => lines.field('Selector', podSelector(spec.selector)),
    'Controlled By': () => owner !== undefined && lines.field('Controlled By', owner),
    'Node-Selector': () => lines.field('Node-Selector', labelsText(spec.template?.spec.nodeSelector) || '<none>'),
  };
  for (const field of fields) describe[field]();
}

/** Formats a pod selector, which is a map of labels in older kinds. */
export function podSelector(selector: LabelSelector | Record<string, string> | undefined): string {
  if (selector === undefined) return '<unset>';
  const isNewer = 'matchLabels' in selector || 'matchExpressions' in selector;
  return isNewer ? selectorText(selector as LabelSelector) : labelsText(selector as Record<string, string>);
}

function podsStatus(pods: readonly Pod[] | Error): string {
  if (pods instanceof Error) return `error in fetching pods: ${pods.message}`;
  const count = (phase: string) => pods.filter(({ status }) => status?.phase === phase).length;
  return `${count('Running')} Running / ${count('Pending')} Waiting / ${count('Succeeded')} Succeeded / ${count('Failed')} Failed`;
}

function describeConditions(lines: Lines, conditions: readonly Condition[] = []): void {
  if (conditions.length === 0) return;
  lines.add(0, 'Conditions:\n  Type\tStatus\tReason\n  ----\t------\t------');
  for (const { type, status, reason = '' } of conditions) lines.add(1, `${type} \t${status}\t${reason}`);
}

import { isConditionTrue, type KubeMetadata, type KubeObject, type Pod, podSummary } from '@podwright/kube-api';
import {
  AGE,
  age,
  type Column,
  type KindTables,
  kindTable,
  NAME,
  NONE,
  type RowCondition,
  text,
  wide,
} from './column.ts';
import { labelsText } from './selector-text.ts';

/** The fields of a pod template shown in tables. */
export type PodTemplate = {
  metadata?: KubeMetadata;
  spec?: { containers?: { name: string; image?: string }[]; nodeSelector?: Record<string, string> };
};

/** Returns the container columns for kinds with a pod template. */
export const containerColumns = <T>(templateOf: (object: T) => PodTemplate | undefined): Column<T>[] => [
  text('Containers', "Names of the template's containers", (object) =>
    (templateOf(object)?.spec?.containers ?? []).map(({ name }) => name).join(','),
  ),
  text('Images', "Images of the template's containers", (object) =>
    (templateOf(object)?.spec?.containers ?? []).map(({ image }) => image ?? '').join(','),
  ),
];

type ScheduledPod = Pod & { status?: { nominatedNodeName?: string } };

const summaryOf = (pod: Pod) => podSummary(pod, { showsEviction: false });

const POD: Column<ScheduledPod>[] = [
  NAME,
  text('Ready', 'Ready containers of all that should be', (pod) => summaryOf(pod).ready),
  text('Status', 'What the pod does, or why it does not run', (pod) => summaryOf(pod).status),
  text('Restarts', 'Restarts of its containers, and the time since the last one', (pod, nowMs) => {
    const { restarts, restartedAt } = summaryOf(pod);
    return restartedAt === undefined ? String(restarts) : `${restarts} (${age(restartedAt, nowMs)} ago)`;
  }),
  AGE,
  wide(text('IP', 'First IP address of the pod', ({ status }) => status?.podIPs?.[0]?.ip || status?.podIP || NONE)),
  wide(text('Node', 'Node on which the pod is', ({ spec }) => spec.nodeName || NONE)),
  wide(
    text(
      'Nominated Node',
      'Node on which pods are preempted for it',
      ({ status }) => status?.nominatedNodeName || NONE,
    ),
  ),
  wide(text('Readiness Gates', 'Readiness gates that are open', openGates)),
];

function openGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  const open = gates.filter(({ conditionType }) => isConditionTrue(status?.conditions, conditionType));
  return gates.length === 0 ? NONE : `${open.length}/${gates.length}`;
}

const COMPLETED = { type: 'Completed', status: 'True' };
const ENDS: Record<string, RowCondition[]> = {
  Succeeded: [{ ...COMPLETED, reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  Failed: [{ ...COMPLETED, reason: 'Failed', message: 'The pod failed.' }],
};

type PodTemplateObject = KubeObject & { template?: PodTemplate };

const POD_TEMPLATE: Column<PodTemplateObject>[] = [
  NAME,
  ...containerColumns<PodTemplateObject>(({ template }) => template),
  text('Pod Labels', 'Labels of its pods', ({ template }) => labelsText(template?.metadata?.labels)),
];

export const PODS: KindTables = {
  Pod: kindTable(POD, { conditions: ({ status }) => ENDS[status?.phase ?? ''] }),
  PodTemplate: kindTable(POD_TEMPLATE),
};

import type { KubeObject } from '@podwright/kube-api';
import { AGE, boolean, type Column, integer, type KindTables, kindTable, NAME, NONE, text } from './column.ts';

type PriorityClass = KubeObject & { value?: number; globalDefault?: boolean; preemptionPolicy?: string };

const PRIORITY_CLASS: Column<PriorityClass>[] = [
  NAME,
  integer('Value', 'Priority of its pods', ({ value }) => value ?? 0),
  boolean('Global-Default', 'Whether pods without a class have it', ({ globalDefault }) => globalDefault ?? false),
  AGE,
  text('PreemptionPolicy', 'Whether its pods preempt others', ({ preemptionPolicy }) => preemptionPolicy ?? ''),
];

type PodGroup = KubeObject & {
  spec?: {
    schedulingPolicy?: { gang?: object };
    podGroupTemplateRef?: { workload?: { workloadName?: string } };
  };
  status?: { conditions?: { type: string; status: string; reason?: string }[] };
};

const POD_GROUP: Column<PodGroup>[] = [
  NAME,
  text('Policy', 'Whether its pods are scheduled together', ({ spec }) =>
    spec?.schedulingPolicy?.gang ? 'Gang' : 'Basic',
  ),
  text('Workload', 'Workload of which it is a part', ({ spec }) =>
    spec?.podGroupTemplateRef ? (spec.podGroupTemplateRef.workload?.workloadName ?? '') : NONE,
  ),
  text('Status', 'Whether its pods are scheduled', ({ status }) => {
    const last = (wanted: string) => status?.conditions?.findLast(({ type }) => type === wanted);
    const disruption = last('DisruptionTarget');
    if (disruption !== undefined) return disruption.reason ?? '';
    const scheduled = last('PodGroupScheduled');
    if (scheduled === undefined) return 'Pending';
    return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
  }),
  AGE,
];

export const SCHEDULING: KindTables = {
  'PriorityClass.scheduling.k8s.io': kindTable(PRIORITY_CLASS),
  'Workload.scheduling.k8s.io': kindTable([NAME, AGE]),
  'PodGroup.scheduling.k8s.io': kindTable(POD_GROUP),
};

import type { KubeObject } from '@podwright/kube-api';
import { formatQuantity, parseQuantity } from '@podwright/kube-api';
import { type Column, type KindTables, kindTable, NAME } from './column.ts';

type Usage = { cpu?: string; memory?: string };
type Metrics = KubeObject & { window?: string; usage?: Usage; containers?: { usage: Usage }[] };

const column = (name: string, format: string, cell: Column<Metrics>['cell']): Column<Metrics> => ({
  definition: { name, type: 'string', format, description: '', priority: 0 },
  cell,
});

/** Returns a node's usage, or the total usage of a pod's containers. */
const total = (resource: keyof Usage) => (metrics: Metrics) => {
  const usages = metrics.usage === undefined ? (metrics.containers ?? []).map(({ usage }) => usage) : [metrics.usage];
  const texts = usages.map((usage) => usage[resource] ?? '0');
  const nanos = texts.reduce((sum, text) => sum + parseQuantity(text).nanos, 0n);
  return formatQuantity(nanos, resource === 'memory' ? 'Ki' : 'n');
};

const METRICS: Column<Metrics>[] = [
  NAME,
  column('cpu', 'quantity', total('cpu')),
  column('memory', 'quantity', total('memory')),
  column('Window', 'duration', ({ window }) => window ?? ''),
];

/** Tables for metrics.k8s.io, with metrics-server's columns. */
export const RESOURCE_USAGE: KindTables = {
  'NodeMetrics.metrics.k8s.io': kindTable(METRICS),
  'PodMetrics.metrics.k8s.io': kindTable(METRICS),
};

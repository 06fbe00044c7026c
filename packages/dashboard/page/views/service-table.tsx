/** The list of Services, with a column that shows whether their pods can answer. */
import { useMemo } from 'preact/hooks';
import type { Pod, Resource, ServiceObject } from '../api/objects.ts';
import type { TableRow } from '../api/table.ts';
import { useScoped } from '../state/app.ts';
import { PODS } from '../state/collections.ts';
import { healthOf, type ServiceState, stateOf } from '../state/service-state.ts';
import type { Column } from '../widgets/grid-table.tsx';
import { Mark, Text } from '../widgets/marks.tsx';
import { ResourceTable } from './resource-table.tsx';

export function ServiceTable({ resource }: { resource: Resource }) {
  const services = useScoped<ServiceObject>(resource);
  const pods = useScoped<Pod>(PODS);
  const { kind } = pods.state.value;
  const [serviceList, podList] = [services.list, pods.list];
  const extra = useMemo((): Column<TableRow> | undefined => {
    if (kind === 'loading' || kind === 'refused') return undefined;
    const health = healthOf(serviceList, podList);
    const cell = ({ object }: TableRow) => <State {...stateOf(health.get(object?.metadata.uid ?? ''))} />;
    return { title: 'Pods', track: '1.2fr', cell };
  }, [serviceList, podList, kind]);
  return <ResourceTable resource={resource} extra={extra} />;
}

function State({ text, isGood, reason }: ServiceState) {
  if (isGood === undefined) return <span class="faint">{text}</span>;
  return (
    <span title={reason}>
      <Mark tone={isGood ? 'good' : 'bad'}>
        <Text>{text}</Text>
      </Mark>
    </span>
  );
}

/** The start page: nodes, what needs attention, rollouts in progress, and the other pods. */
import { useMemo } from 'preact/hooks';
import type { KubeObject, ServiceObject } from '../api/objects.ts';
import { builtIn } from '../api/resources.ts';
import { useApp, useScoped } from '../state/app.ts';
import { usePodViews } from '../state/pod-views.ts';
import { ROLLED_KINDS, type Rollout, rolloutOf } from '../state/rollout.ts';
import { type ServiceTrouble, serviceTroubles } from '../state/service-troubles.ts';
import { countText } from '../state/text.ts';
import { needsAttention, type PodView } from '../state/trouble.ts';
import { Problem, Waiting } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';
import { AttentionPanel } from './attention-panel.tsx';
import { NodePanel } from './node-panel.tsx';
import { PodTable } from './pod-table.tsx';
import { RolloutList } from './rollout-list.tsx';

export function Overview() {
  return (
    <>
      <NodePanel />
      <Workloads />
    </>
  );
}

const RESOURCES = ROLLED_KINDS.map(builtIn);
const SERVICES = builtIn('Service');

/** Returns the objects in the selected namespace. */
function useChosen<T extends KubeObject>(list: readonly T[]): readonly T[] {
  const { namespace } = useApp();
  return useMemo(
    () => (namespace === '' ? list : list.filter(({ metadata }) => metadata.namespace === namespace)),
    [list, namespace],
  );
}

function useRollouts(views: readonly PodView[]): Rollout[] {
  const lists = [
    useChosen(useScoped<KubeObject>(RESOURCES[0]!).list),
    useChosen(useScoped<KubeObject>(RESOURCES[1]!).list),
    useChosen(useScoped<KubeObject>(RESOURCES[2]!).list),
  ];
  return lists.flatMap((list, index) => list.flatMap((object) => rolloutOf(ROLLED_KINDS[index]!, object, views) ?? []));
}

function useServiceTroubles(views: readonly PodView[]): ServiceTrouble[] {
  const { now } = useApp();
  const services = useChosen(useScoped<ServiceObject>(SERVICES).list);
  return useMemo(() => serviceTroubles(services, views, now.peek()), [services, views]);
}

function Workloads() {
  const { session } = useApp();
  const { views, state } = usePodViews();
  const rollouts = useRollouts(views);
  const services = useServiceTroubles(views);
  const current = state.value;
  const { kind } = current;
  // if the user may not list all pods, the scope is only known once the session has been read
  if (kind === 'refused' && session === undefined) return <Waiting what="Reading pods" />;
  if (current.kind === 'refused') return <Problem what="Pods cannot be listed">{current.message}</Problem>;
  if (kind === 'loading' && views.length === 0) return <Waiting what="Reading pods" />;
  const troubled = views.filter(needsAttention);
  const others = views.slice(troubled.length);
  const progressing = rollouts.filter(({ isStuck }) => !isStuck);
  return (
    <>
      <AttentionPanel
        pods={troubled}
        services={kind === 'loading' ? [] : services}
        rollouts={rollouts.filter(({ isStuck }) => isStuck)}
        podCount={views.length}
      />
      {progressing.length === 0 ? null : (
        <Panel title="Rollouts in progress" wide>
          <RolloutList rollouts={progressing} />
        </Panel>
      )}
      {others.length === 0 ? null : (
        <Panel title="Other pods" aside={countText(others.length, 'pod')} wide>
          <PodTable label="Pods that are ready or completed" views={others} />
        </Panel>
      )}
    </>
  );
}

/** The start page: nodes, rollouts in progress, and pods sorted by how much attention they need. */
import { useMemo } from 'preact/hooks';
import type { EventObject, KubeObject, Pod } from '../api/objects.ts';
import { builtIn } from '../api/resources.ts';
import { useApp, useScoped } from '../state/app.ts';
import type { Collection } from '../state/collection.ts';
import { EVENTS, PODS } from '../state/collections.ts';
import { EventsByObject } from '../state/events-by-object.ts';
import { ROLLED_KINDS, rolloutOf } from '../state/rollout.ts';
import { countText } from '../state/text.ts';
import { needsAttention, type PodView, PodViews } from '../state/trouble.ts';
import { Problem, Waiting } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';
import { NodePanel } from './node-panel.tsx';
import { PodTable } from './pod-table.tsx';
import { RolloutList } from './rollout-list.tsx';
import { TroubleList } from './trouble-list.tsx';

export function Overview() {
  return (
    <>
      <NodePanel />
      <Rollouts />
      <PodsByTrouble />
    </>
  );
}

const RESOURCES = ROLLED_KINDS.map(builtIn);

function Rollouts() {
  const [deployments, statefulSets, daemonSets] = [
    useScoped<KubeObject>(RESOURCES[0]!),
    useScoped<KubeObject>(RESOURCES[1]!),
    useScoped<KubeObject>(RESOURCES[2]!),
  ];
  const { namespace } = useApp();
  const rollouts = [deployments, statefulSets, daemonSets].flatMap((collection, index) =>
    collection.list
      .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
      .flatMap((object) => rolloutOf(ROLLED_KINDS[index]!, object) ?? []),
  );
  if (rollouts.length === 0) return null;
  return (
    <Panel title="Rollouts in progress" wide>
      <RolloutList rollouts={rollouts} />
    </Panel>
  );
}

/** Returns the views of all pods in the selected namespace. They are recomputed every ten seconds because some depend on the time. */
function usePodViews(): { views: PodView[]; state: Collection<Pod>['state'] } {
  const { now, namespace } = useApp();
  const pods = useScoped<Pod>(PODS);
  const events = useScoped<EventObject>(EVENTS);
  const memory = useMemo(() => ({ views: new PodViews(), events: new EventsByObject() }), []);
  const tenSeconds = Math.floor(now.value / 10_000);
  const [podList, eventList, wanted] = [pods.list, events.list, namespace];
  const views = useMemo(() => {
    memory.events.update(eventList);
    const shown = wanted === '' ? podList : podList.filter(({ metadata }) => metadata.namespace === wanted);
    return memory.views.of(shown, memory.events.of, now.peek());
  }, [podList, eventList, wanted, tenSeconds]);
  return { views, state: pods.state };
}

function PodsByTrouble() {
  const { session } = useApp();
  const { views, state } = usePodViews();
  const current = state.value;
  // if the user may not list all pods, the scope is only known once the session has been read
  if (current.kind === 'refused' && session === undefined) return <Waiting what="Reading pods" />;
  if (current.kind === 'refused') return <Problem what="Pods cannot be listed">{current.message}</Problem>;
  if (current.kind === 'loading' && views.length === 0) return <Waiting what="Reading pods" />;
  const troubled = views.filter(needsAttention);
  const others = views.slice(troubled.length);
  return (
    <>
      <Panel
        title={troubled.length === 0 ? 'No pod needs attention' : 'Needs attention'}
        aside={countText(troubled.length, 'pod')}
        wide
      >
        {troubled.length === 0 ? <AllWell count={views.length} /> : <TroubleList views={troubled} />}
      </Panel>
      {others.length === 0 ? null : (
        <Panel title="Other pods" aside={countText(others.length, 'pod')} wide>
          <PodTable label="Pods that are ready or completed" views={others} />
        </Panel>
      )}
    </>
  );
}

const AllWell = ({ count }: { count: number }) =>
  count === 0 ? (
    <p class="faint">There are no pods yet. Apply a manifest, for example with kubectl apply -f or podwright run.</p>
  ) : (
    <p class="faint">Every pod is ready or has completed.</p>
  );

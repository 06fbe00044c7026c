import type { KubeObject } from '../api/objects.ts';
import { usePodViews } from '../state/pod-views.ts';
import { type Rollout, rolloutOf } from '../state/rollout.ts';
import { countText } from '../state/text.ts';
import { Mark, ObjectLink, Text } from '../widgets/marks.tsx';
import { Meter } from '../widgets/meter.tsx';
import { Panel } from '../widgets/panel.tsx';

/** Rollouts and their progress. */
export function RolloutList({ rollouts }: { rollouts: readonly Rollout[] }) {
  return (
    <ul class="rollouts">
      {rollouts.map((rollout) => (
        <RolloutLine
          key={`${rollout.object.kind}/${rollout.object.namespace}/${rollout.object.name}`}
          rollout={rollout}
        />
      ))}
    </ul>
  );
}

/** The rollout of one workload. Shows nothing if it is complete. */
export function RolloutPanel({ kind, object }: { kind: string; object: KubeObject }) {
  const { views } = usePodViews();
  const rollout = rolloutOf(kind, object, views);
  if (rollout === undefined) return null;
  return (
    <Panel title={rollout.isStuck ? 'Rollout is stuck' : 'Rollout in progress'} wide>
      <RolloutList rollouts={[rollout]} />
    </Panel>
  );
}

function RolloutLine({
  rollout: { object, wanted, updated, available, old, isStuck, failure, progress },
}: {
  rollout: Rollout;
}) {
  return (
    <li data-row>
      <div class="trouble-head">
        <ObjectLink object={object} withKind />
        <span class="faint">{object.namespace}</span>
        {isStuck ? <Mark tone="bad">rollout is stuck</Mark> : <Mark tone="busy">in progress</Mark>}
      </div>
      <Meter share={wanted === 0 ? 0 : Math.min(updated, available) / wanted} label={`Rollout of ${object.name}`} />
      <p class="faint">
        {updated} of {countText(wanted, 'pod')} updated, {available} available
        {old > 0 ? `, ${countText(old, 'old pod')} not yet removed` : ''}
      </p>
      {failure === undefined ? null : (
        <p class="reason">
          <Text>{failure}</Text>
          <span class="faint"> ({progress})</span>
        </p>
      )}
    </li>
  );
}

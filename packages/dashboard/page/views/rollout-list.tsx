import type { Rollout } from '../state/rollout.ts';
import { countText } from '../state/text.ts';
import { Mark, ObjectLink, Text } from '../widgets/marks.tsx';
import { Meter } from '../widgets/meter.tsx';

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

function RolloutLine({
  rollout: { object, wanted, updated, available, old, failure, progress },
}: {
  rollout: Rollout;
}) {
  return (
    <li data-row>
      <div class="trouble-head">
        <ObjectLink object={object} withKind />
        <span class="faint">{object.namespace}</span>
        {failure === undefined ? <Mark tone="busy">in progress</Mark> : <Mark tone="bad">failed</Mark>}
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

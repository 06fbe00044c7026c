/** The pods, Services and rollouts that need attention. */
import type { Rollout } from '../state/rollout.ts';
import type { ServiceTrouble } from '../state/service-troubles.ts';
import { countText } from '../state/text.ts';
import type { PodView } from '../state/trouble.ts';
import { ObjectLink } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';
import { RolloutList } from './rollout-list.tsx';
import { Reason, TroubleList } from './trouble-list.tsx';

/** Maximum number of Services shown. Their list marks all of them. */
const SHOWN_SERVICES = 20;

type AttentionProps = {
  pods: readonly PodView[];
  services: readonly ServiceTrouble[];
  rollouts: readonly Rollout[];
  /** The number of all pods. */
  podCount: number;
};

export function AttentionPanel({ pods, services, rollouts, podCount }: AttentionProps) {
  const counts = [
    pods.length > 0 && countText(pods.length, 'pod'),
    services.length > 0 && countText(services.length, 'Service'),
    rollouts.length > 0 && countText(rollouts.length, 'rollout'),
  ].filter((text) => text !== false);
  if (counts.length === 0)
    return (
      <Panel title="Nothing needs attention" wide>
        <AllWell count={podCount} />
      </Panel>
    );
  return (
    <Panel title="Needs attention" aside={counts.join(', ')} wide>
      {pods.length === 0 ? null : <TroubleList views={pods} />}
      {services.length === 0 ? null : (
        <ul class="troubles">
          {services.slice(0, SHOWN_SERVICES).map((trouble) => (
            <ServiceLine key={`${trouble.object.namespace}/${trouble.object.name}`} {...trouble} />
          ))}
        </ul>
      )}
      {rollouts.length === 0 ? null : <RolloutList rollouts={rollouts} />}
    </Panel>
  );
}

const ServiceLine = ({ object, finding }: ServiceTrouble) => (
  <li data-row class="trouble bad">
    <div class="trouble-head">
      <ObjectLink object={object} withKind />
      <span class="faint">{object.namespace}</span>
    </div>
    <Reason finding={finding} />
  </li>
);

const AllWell = ({ count }: { count: number }) =>
  count === 0 ? (
    <p class="faint">There are no pods yet. Apply a manifest, for example with kubectl apply -f or podwright run.</p>
  ) : (
    <p class="faint">Every pod is ready or has completed.</p>
  );

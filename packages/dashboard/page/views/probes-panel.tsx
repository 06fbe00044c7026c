import { probeText } from '@podwright/kube-view';
import type { EventObject, Pod } from '../api/objects.ts';
import { countText } from '../state/text.ts';
import { type ProbeMark, probeFailures } from '../state/timeline.ts';
import { Ago, Mark, Text } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

const PROBES = [
  ['startupProbe', 'Startup'],
  ['readinessProbe', 'Readiness'],
  ['livenessProbe', 'Liveness'],
] as const;

/** The probes of the pod's containers and their failures. */
export function ProbesPanel({ pod, events }: { pod: Pod; events: readonly EventObject[] }) {
  const failures = probeFailures(events);
  const rows = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap((container) =>
    PROBES.flatMap(([field, title]) => {
      const probe = container[field];
      return probe === undefined
        ? []
        : [{ container: container.name, title, probe, text: probeText(probe, container) }];
    }),
  );
  if (rows.length === 0) return null;
  return (
    <Panel title="Probes">
      <ul class="probes">
        {rows.map(({ container, title, probe, text }) => {
          const own = failures.filter((one) => one.container === container && one.probe === title);
          return (
            <li key={`${container}/${title}`}>
              <strong>{title}</strong> of {container}: <Text>{text}</Text>
              <p class="faint">
                every {probe.periodSeconds ?? 10} s, fails after {countText(probe.failureThreshold ?? 3, 'failure')}
              </p>
              <Ticks failures={own} />
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

/** Maximum number of ticks shown for the failures in one event. */
const MAX_TICKS = 24;

function Ticks({ failures }: { failures: readonly ProbeMark[] }) {
  if (failures.length === 0) return <Mark tone="good">no failure in the last hour</Mark>;
  return (
    <>
      {failures.map(({ message, count, lastMs }) => (
        <div key={message}>
          <span class="ticks" aria-hidden="true">
            {'▮'.repeat(Math.min(count, MAX_TICKS))}
          </span>{' '}
          <Mark tone="warn">{countText(count, 'failure')}</Mark> <span class="faint">last </span>
          <Ago time={lastMs} />
          <span class="faint"> ago</span>
          <p class="mono">
            <Text>{message}</Text>
          </p>
        </div>
      ))}
    </>
  );
}

import { useMemo } from 'preact/hooks';
import type { EventObject, Pod } from '../api/objects.ts';
import { useApp } from '../state/app.ts';
import { clockText } from '../state/text.ts';
import { timelineOf } from '../state/timeline.ts';
import { Ago, Mark, Text } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

/** Maximum number of timeline entries to show. */
const SHOWN = 30;

/** The history of a pod, newest first. */
export function TimelinePanel({ pod, events }: { pod: Pod; events: readonly EventObject[] }) {
  const { now } = useApp();
  const moments = useMemo(() => timelineOf(pod, events).reverse().slice(0, SHOWN), [pod, events]);
  return (
    <Panel title="Time line">
      <ol class="timeline">
        {moments.map(({ timeMs, text, isWarning, count }) => (
          <li key={`${timeMs} ${text}`}>
            <span class="number">
              <Ago time={timeMs} />
            </span>
            <span class="clock faint">{clockText(timeMs, now.peek())}</span>
            <span>
              {isWarning ? <Mark tone="warn">{''}</Mark> : null}
              <Text>{text}</Text>
              {count > 1 ? <span class="faint"> ×{count}</span> : null}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

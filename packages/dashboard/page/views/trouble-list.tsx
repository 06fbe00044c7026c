/** Pods that need attention, with the reason and advice for each. */
import type { Finding } from '@podwright/kube-view';
import { useState } from 'preact/hooks';
import { readWhy } from '../api/dashboard.ts';
import { plainText } from '../logs/ansi.ts';
import { useAnswer } from '../state/answer.ts';
import { useApp } from '../state/app.ts';
import { PODS } from '../state/collections.ts';
import { objectHref } from '../state/route.ts';
import { countText } from '../state/text.ts';
import type { PodView } from '../state/trouble.ts';
import { Ago, Mark, Text, TONES } from '../widgets/marks.tsx';

/** Number of pods shown until the user clicks Show more. */
const SHOWN = 20;

export function TroubleList({ views }: { views: readonly PodView[] }) {
  const [count, setCount] = useState(SHOWN);
  return (
    <>
      <ul class="troubles">
        {views.slice(0, count).map((view) => (
          <Trouble key={view.pod.metadata.uid} view={view} />
        ))}
      </ul>
      {views.length > count ? (
        <button type="button" onClick={() => setCount(count + 100)}>
          Show more ({countText(views.length - count, 'pod')} not shown)
        </button>
      ) : null}
    </>
  );
}

/** Causes for which the end of the failing container's log is shown as well. */
const WITH_LOG = new Set(['crash', 'killed', 'exits-with-0', 'no-program', 'not-executable']);

/**
 * Returns the finding for a pod that needs attention, including the end of the container's log if the cause is in WITH_LOG. The log is read
 * again after each restart.
 */
function useFinding({ pod, finding, restarts }: PodView): Finding | undefined {
  const { explaining } = useApp();
  const { namespace, name, uid } = pod.metadata;
  const isAsked = finding !== undefined && WITH_LOG.has(finding.cause);
  const { value } = useAnswer(
    async (signal) =>
      isAsked
        ? (await explaining.run(() => readWhy({ plural: 'pods', namespace, name, signal }), signal)).finding
        : undefined,
    [uid, restarts, isAsked],
  );
  return value ?? finding;
}

const LOG_LINES = 3;

function Trouble({ view }: { view: PodView }) {
  const { pod, level, status, ready, restarts } = view;
  const { namespace, name, creationTimestamp } = pod.metadata;
  const finding = useFinding(view);
  const lines = finding?.log?.lines.slice(-LOG_LINES) ?? [];
  return (
    <li data-row class={`trouble ${TONES[level]}`}>
      <div class="trouble-head">
        <a href={objectHref(PODS, { namespace, name })}>
          <span class="faint">{namespace}/</span>
          <strong>{name}</strong>
        </a>
        <Mark tone={TONES[level]}>
          <Text>{status}</Text>
        </Mark>
        <span class="faint">
          {ready} ready · {countText(restarts, 'restart')} · age <Ago time={creationTimestamp} />
        </span>
      </div>
      {finding === undefined ? null : (
        <p class="reason">
          <Text>{capital(finding.sentence)}</Text>
        </p>
      )}
      {finding?.advice.map((advice) => (
        <p class="advice" key={advice}>
          <span aria-hidden="true">→ </span>
          <Text>{advice}</Text>
        </p>
      ))}
      {lines.length === 0 ? null : (
        <>
          <pre class="log-end">{lines.map(plainText).join('\n')}</pre>
          <p class="advice">
            <span aria-hidden="true">→ </span>
            <a href={objectHref(PODS, { namespace, name }, 'logs')}>Read the log of {name}</a>
          </p>
        </>
      )}
    </li>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

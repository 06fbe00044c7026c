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
import { askedFor, type PodView } from '../state/trouble.ts';
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

/** How often the explanation of a pod that depends on other objects is read again. */
const PERIOD_MS = 10_000;

/** Returns the finding for a pod that needs attention, by the page's server if it knows more. It is read again after each restart. */
function useFinding(view: PodView): Finding | undefined {
  const { explaining } = useApp();
  const { pod, level, finding, restarts } = view;
  const { namespace, name, uid } = pod.metadata;
  const asked = askedFor(view);
  const { value } = useAnswer(
    async (signal) =>
      asked === undefined
        ? undefined
        : (await explaining.run(() => readWhy({ plural: 'pods', namespace, name, signal }), signal)).finding,
    [uid, restarts, level, asked],
    { periodMs: asked === 'objects' ? PERIOD_MS : undefined },
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
      {finding === undefined ? null : <Reason finding={finding} />}
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

/** Why an object needs attention, and what to do. */
export const Reason = ({ finding: { sentence, advice } }: { finding: Finding }) => (
  <>
    <p class="reason">
      <Text>{capital(sentence)}</Text>
    </p>
    {advice.map((one) => (
      <p class="advice" key={one}>
        <span aria-hidden="true">→ </span>
        <Text>{one}</Text>
      </p>
    ))}
  </>
);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

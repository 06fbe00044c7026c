/** Small components: states, ages, text from the API, links to objects, problems. */
import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { ObjectName } from '../api/objects.ts';
import { plainText } from '../logs/ansi.ts';
import { useApp } from '../state/app.ts';
import { ageText } from '../state/text.ts';
import type { Level } from '../state/trouble.ts';

/** How good a state is. Determines its color and symbol. */
export type Tone = 'bad' | 'warn' | 'busy' | 'good' | 'calm';

/** Symbols by tone, so that states can be distinguished without color. */
const SIGNS: Record<Tone, string> = { bad: '✕', warn: '▲', busy: '◔', good: '●', calm: '○' };

/** A state with its symbol and color. */
export function Mark({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`mark ${tone}`}>
      <span aria-hidden="true" class="sign">
        {SIGNS[tone]}
      </span>
      <span>{children}</span>
    </span>
  );
}

export const TONES: Record<Level, Tone> = {
  failing: 'bad',
  unsteady: 'bad',
  starting: 'busy',
  restarted: 'warn',
  well: 'good',
  completed: 'calm',
};

/** The age of a time (RFC 3339 or Unix milliseconds), updated continuously. */
export function Ago({ time }: { time: string | number | null | undefined }) {
  const { now } = useApp();
  const timeMs = typeof time === 'number' ? time : time ? Date.parse(time) : Number.NaN;
  const text = useComputed(() => ageText(now.value - timeMs));
  if (Number.isNaN(timeMs)) return <span>–</span>;
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={new Date(timeMs).toLocaleString()}>
      {text.value}
    </time>
  );
}

/** Text from the API server, with control characters made visible. */
export const Text = ({ children }: { children: string | undefined }) => <>{plainText(children ?? '')}</>;

/** The name of an object, linked if its kind can be listed. */
export function ObjectLink({
  object,
  group,
  withKind = false,
}: {
  object: ObjectName;
  group?: string;
  withKind?: boolean;
}) {
  const href = useApp().hrefOf(object, group);
  const name = plainText(object.name);
  const text = withKind ? `${object.kind} ${name}` : name;
  return href === undefined ? <span>{text}</span> : <a href={href}>{text}</a>;
}

/** An error shown in place of something that is unavailable. `children`: the error message. */
export function Problem({ what, children }: { what: string; children?: ComponentChildren }) {
  return (
    <p class="problem" role="status">
      <span aria-hidden="true" class="sign">
        ✕
      </span>{' '}
      {what}
      {children === undefined ? null : <>: {children}</>}
    </p>
  );
}

export const Waiting = ({ what = 'Reading' }: { what?: string }) => (
  <p class="faint" role="status">
    {what} …
  </p>
);

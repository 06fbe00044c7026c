/** Waterfall charts of a pod's startup steps, including startups still in progress. */
import { readTraces } from '../api/dashboard.ts';
import { isForbidden, isNotFound, messageOf } from '../api/request.ts';
import { plainText } from '../logs/ansi.ts';
import { useAnswer } from '../state/answer.ts';
import { clockText, durationText } from '../state/text.ts';
import { type Bar, type Chart, chartsOf } from '../state/waterfall.ts';
import { Mark, Problem, Text, Waiting } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

const PERIOD_MS = 2000;
/** Maximum number of startups to show. */
const SHOWN = 5;

const isFinal = (error: unknown) => isForbidden(error) || isNotFound(error);

/** The steps of a pod's startups. Shows nothing if the node's kubelet is not Podwright's and so has recorded none. */
export function StartPanel({ node, uid }: { node: string; uid: string }) {
  const read = (signal: AbortSignal) => readTraces({ node, uid }, signal);
  const { value, error, isReading } = useAnswer(read, [node, uid], { periodMs: PERIOD_MS, isFinal });
  if (value === undefined && isNotFound(error)) return null;
  if (value === undefined && isForbidden(error))
    return (
      <Panel title="Start" wide>
        <p class="faint">The steps of the start can be read only with the right to get nodes/proxy.</p>
      </Panel>
    );
  return (
    <Panel title="Start" wide>
      {value === undefined ? (
        isReading ? (
          <Waiting what="Reading steps" />
        ) : (
          <Problem what="Steps cannot be read">{messageOf(error)}</Problem>
        )
      ) : value.length === 0 ? (
        <p class="faint">No steps were recorded.</p>
      ) : (
        chartsOf(value)
          .slice(0, SHOWN)
          .map((chart) => <Waterfall key={chart.beginMs} chart={chart} />)
      )}
    </Panel>
  );
}

function Waterfall({ chart: { beginMs, endMs, bars } }: { chart: Chart }) {
  return (
    <figure>
      <figcaption class="faint">
        {clockText(beginMs, Date.now())}, {durationText(endMs - beginMs)}
      </figcaption>
      <div class="waterfall" role="table" aria-label={`Steps of the start at ${clockText(beginMs, Date.now())}`}>
        {bars.map((bar, index) => (
          <Step key={bar.span.id ?? `${bar.span.name} ${index}`} bar={bar} beginMs={beginMs} />
        ))}
      </div>
    </figure>
  );
}

function Step({ bar: { span, depth, from, width }, beginMs }: { bar: Bar; beginMs: number }) {
  const { name, startMs, endMs, open: isOpen, detail } = span;
  const isFailed = detail?.startsWith('failed') ?? false;
  return (
    <div role="row" class={`step ${isOpen ? 'open' : ''} ${isFailed ? 'failed' : ''}`}>
      <span
        role="cell"
        class="step-name"
        title={plainText(name)}
        style={{ paddingLeft: `${Math.min(depth, 8) * 0.75}rem` }}
      >
        <Text>{name}</Text>
      </span>
      <span role="cell" class="number faint">
        +{durationText(startMs - beginMs)}
      </span>
      <span role="cell" class="number">
        {durationText(endMs - startMs)}
      </span>
      <span role="cell" class="bar-cell">
        <span class="bar" aria-hidden="true" style={{ marginLeft: `${from * 100}%`, width: `${width * 100}%` }} />
      </span>
      {isOpen || detail !== undefined ? (
        <span role="cell" class="step-detail">
          {isOpen ? <Mark tone="busy">under way</Mark> : isFailed ? <Mark tone="bad">failed</Mark> : null}{' '}
          <Text>{isFailed ? detail!.replace(/^failed:? ?/, '') : detail}</Text>
        </span>
      ) : null}
    </div>
  );
}

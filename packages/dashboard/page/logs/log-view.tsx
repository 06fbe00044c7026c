/** The logs of a pod's containers, merged by time, with a filter. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Pod } from '../api/objects.ts';
import { PODS } from '../state/collections.ts';
import { objectHref } from '../state/route.ts';
import { countText } from '../state/text.ts';
import { Problem } from '../widgets/marks.tsx';
import { filterProblem, type LogFilter } from './log-filter.ts';
import { LogLines } from './log-lines.tsx';
import { LogModel } from './log-model.ts';
import { logProblems } from './log-problems.ts';

/** Number of lines initially read from the end of each container's log. */
const TAIL_LINES = 1000;

type Choice = { isWhole: boolean; isPrevious: boolean; isFollowing: boolean };

export function LogView({ pod }: { pod: Pod }) {
  const { namespace, name } = pod.metadata;
  const containers = useMemo(
    () => [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map((container) => container.name),
    [pod.metadata.uid],
  );
  const model = useMemo(() => new LogModel(), []);
  const [choice, setChoice] = useState<Choice>({ isWhole: false, isPrevious: false, isFollowing: true });
  const [filter, setFilter] = useState<LogFilter>({ text: '', hidden: new Set() });
  const [showsTimes, setShowsTimes] = useState(false);
  useEffect(() => {
    const { isWhole, isPrevious, isFollowing } = choice;
    const tailLines = isWhole ? undefined : TAIL_LINES;
    model.open({ namespace, name, containers, tailLines, isPrevious, isFollowing: isFollowing && !isPrevious });
    return () => model.close();
  }, [model, namespace, name, containers, choice]);
  useEffect(() => model.setFilter(filter), [model, filter]);
  return (
    <section class="log" aria-label={`Logs of ${name}`}>
      <div class="list-head">
        <input
          type="search"
          aria-label="Filter the log"
          placeholder="Filter: text or /expression/"
          value={filter.text}
          onInput={({ currentTarget }) => setFilter({ ...filter, text: currentTarget.value })}
        />
        <Toggle title="Follow" isOn={choice.isFollowing} set={(isFollowing) => setChoice({ ...choice, isFollowing })} />
        <Toggle title="Whole log" isOn={choice.isWhole} set={(isWhole) => setChoice({ ...choice, isWhole })} />
        <Toggle
          title="Previous run"
          isOn={choice.isPrevious}
          set={(isPrevious) => setChoice({ ...choice, isPrevious })}
        />
        <Toggle title="Timestamps" isOn={showsTimes} set={setShowsTimes} />
        <Sources containers={containers} filter={filter} setFilter={setFilter} model={model} />
      </div>
      <States {...{ pod, containers, model, filter }} isPrevious={choice.isPrevious} />
      <LogLines model={model} containers={containers} showsTimes={showsTimes} isFollowing={choice.isFollowing} />
      <Counts model={model} />
    </section>
  );
}

function Toggle({ title, isOn, set }: { title: string; isOn: boolean; set(isOn: boolean): void }) {
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => set(currentTarget.checked)} />
      {title}
    </label>
  );
}

type SourcesProps = {
  containers: readonly string[];
  filter: LogFilter;
  setFilter(filter: LogFilter): void;
  model: LogModel;
};

function Sources({ containers, filter, setFilter }: SourcesProps) {
  if (containers.length < 2) return null;
  return (
    <fieldset>
      <legend class="visually-hidden">Containers</legend>
      {containers.map((name, source) => {
        const hidden = new Set(filter.hidden);
        const isShown = !hidden.has(source);
        const toggle = () => {
          if (isShown) hidden.add(source);
          else hidden.delete(source);
          setFilter({ ...filter, hidden });
        };
        return (
          <label key={name} class={`source-${source % 6}`}>
            <input type="checkbox" checked={isShown} onChange={toggle} />
            {name}
          </label>
        );
      })}
    </fieldset>
  );
}

type StatesProps = { pod: Pod; containers: readonly string[]; model: LogModel; filter: LogFilter; isPrevious: boolean };

/** Messages about shown containers whose logs cannot be read, and about an invalid filter. */
function States({ pod, containers, model, filter: { text: expression, hidden }, isPrevious }: StatesProps) {
  const problems = logProblems(pod, { containers, states: model.states.value, hidden, isPrevious });
  const invalid = filterProblem(expression);
  return (
    <>
      {invalid === undefined ? null : <Problem what="The filter is not a valid expression">{invalid}</Problem>}
      {problems.map(({ container, text, isError }) =>
        isError ? (
          <Problem key={container} what={`Log of ${container}`}>
            {text}
          </Problem>
        ) : (
          <p key={container} class="faint" role="status">
            {container}: {text}. <a href={objectHref(PODS, pod.metadata)}>State of the pod</a>
          </p>
        ),
      )}
    </>
  );
}

function Counts({ model }: { model: LogModel }) {
  const { lines, total, dropped } = model.shown.value;
  return (
    <p class="faint">
      {lines.length === total ? '' : `${countText(lines.length, 'line')} shown of `}
      {countText(total + dropped, 'line')}
      {dropped > 0 ? `; the last ${total.toLocaleString('en')} are kept` : ''}
    </p>
  );
}

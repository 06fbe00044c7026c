/**
 * Graphs of the memory usage of a pod's containers (metrics.k8s.io), with their limits and OOM kills. Values are only retained while the
 * page is open.
 */
import { quantityValue } from '@podwright/kube-api';
import { useMemo } from 'preact/hooks';
import type { KubeObject, Pod, Resource } from '../api/objects.ts';
import { call } from '../api/request.ts';
import { pathOf } from '../api/resources.ts';
import { useAnswer } from '../state/answer.ts';
import { useApp } from '../state/app.ts';
import { killsText, type MemoryKill, memoryKills } from '../state/memory-kills.ts';
import { bytesText, countText } from '../state/text.ts';
import { Graph } from '../widgets/graph.tsx';
import { Ago, Mark } from '../widgets/marks.tsx';
import { Meter } from '../widgets/meter.tsx';
import { Panel } from '../widgets/panel.tsx';

const PERIOD_MS = 10_000;
/** Maximum number of retained values, enough for an hour. */
const MAX_SAMPLES = 360;

type PodMetrics = KubeObject & { containers?: { name: string; usage?: { cpu?: string; memory?: string } }[] };
type Kept = { times: number[]; bytes: Map<string, number[]> };

/** Reads the memory usage of the containers periodically and retains the values. */
function useMemory({ metadata: { namespace, name, uid } }: Pod, metrics: Resource | undefined) {
  const kept = useMemo<Kept>(() => ({ times: [], bytes: new Map() }), [uid]);
  const read = async (signal: AbortSignal): Promise<Kept> => {
    if (metrics === undefined) return kept;
    // request a list, because pods that are not running have no metrics: the list is then empty, whereas reading a single object would fail
    const query = { fieldSelector: `metadata.name=${name}` };
    const { items = [] } = await call<{ items?: PodMetrics[] }>(pathOf(metrics, { namespace }), { query, signal });
    const { containers = [] } = items.find(({ metadata }) => metadata.name === name) ?? {};
    if (containers.length > 0) keep(kept, containers);
    return { times: [...kept.times], bytes: new Map([...kept.bytes].map(([one, list]) => [one, [...list]])) };
  };
  return useAnswer(read, [uid, metrics], { periodMs: metrics && PERIOD_MS });
}

function keep(kept: Kept, containers: NonNullable<PodMetrics['containers']>): void {
  const before = kept.times.length;
  kept.times.push(Date.now() / 1000);
  for (const { name } of containers)
    if (!kept.bytes.has(name)) kept.bytes.set(name, new Array<number>(before).fill(Number.NaN));
  // a container that is not running has no value
  for (const [name, list] of kept.bytes) list.push(bytesOf(containers.find((one) => one.name === name)?.usage?.memory));
  if (kept.times.length <= MAX_SAMPLES) return;
  for (const list of [kept.times, ...kept.bytes.values()]) list.shift();
}

/** Returns the value of a quantity in bytes, or NaN if the text is undefined or not a quantity. */
function bytesOf(text: string | undefined): number {
  try {
    return text === undefined ? Number.NaN : Number(quantityValue(text));
  } catch {
    return Number.NaN;
  }
}

/** Returns the OOM kills of the pod's containers since the page was opened, plus the last one before that. */
function useKills(pod: Pod): readonly MemoryKill[] {
  const kept = useMemo<{ kills: readonly MemoryKill[] }>(() => ({ kills: [] }), [pod.metadata.uid]);
  kept.kills = memoryKills(kept.kills, pod);
  return kept.kills;
}

/** Shows the memory usage and OOM kills of a pod. Shows nothing if there are no kills and the cluster does not have `metrics.k8s.io`. */
export function MemoryPanel({ pod }: { pod: Pod }) {
  const { value } = useMemory(pod, useApp().resourceOfKind('PodMetrics', 'metrics.k8s.io'));
  const kills = useKills(pod);
  const measured = value?.bytes ?? new Map<string, number[]>();
  const names = [...new Set([...measured.keys(), ...kills.map(({ container }) => container)])];
  if (names.length === 0) return null;
  return (
    <Panel title="Memory">
      {names.map((name) => (
        <ContainerMemory
          key={name}
          {...{ name, bytes: measured.get(name) ?? NONE, times: value?.times ?? NONE }}
          kills={kills.filter(({ container }) => container === name)}
          limitBytes={limitOf(pod, name)}
          restarts={restartsOf(pod, name)}
        />
      ))}
    </Panel>
  );
}

const NONE: number[] = [];

const restartsOf = ({ status }: Pod, name: string): number =>
  [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find((one) => one.name === name)
    ?.restartCount ?? 0;

function limitOf({ spec }: Pod, name: string): number | undefined {
  const container = [...spec.containers, ...(spec.initContainers ?? [])].find((one) => one.name === name);
  const bytes = bytesOf(container?.resources?.limits?.memory);
  return Number.isNaN(bytes) ? undefined : bytes;
}

type ContainerMemoryProps = {
  name: string;
  times: number[];
  bytes: number[];
  kills: readonly MemoryKill[];
  limitBytes?: number;
  restarts: number;
};

function ContainerMemory({ name, times, bytes, kills, limitBytes, restarts }: ContainerMemoryProps) {
  const now = bytes.at(-1) ?? Number.NaN;
  const text = `${Number.isNaN(now) ? 'unknown' : bytesText(now)} of ${limitBytes === undefined ? 'no limit' : bytesText(limitBytes)}`;
  const lines = [{ name, values: times.map((_time, index) => known(bytes[index])) }];
  const last = kills.at(-1);
  const killed = kills.length === 0 ? '' : `, killed ${countText(kills.length, 'time')}`;
  return (
    <div>
      <p>
        <strong>{name}</strong> {text}
      </p>
      {last === undefined ? null : (
        <p>
          <Mark tone="bad">killed</Mark> it used more memory than its limit allows; last kill <Ago time={last.time} />{' '}
          ago; {killsText(kills.length, restarts)}
        </p>
      )}
      {limitBytes === undefined ? null : (
        <Meter share={now / limitBytes} label={`Memory of ${name} against its limit`} />
      )}
      <Graph
        label={`Memory of ${name}: ${text}${killed}`}
        {...{ times, lines, max: limitBytes, text: bytesText }}
        marks={kills.map(({ time }) => time / 1000)}
        height={80}
      />
    </div>
  );
}

/** Returns null for unknown values, which leaves a gap in a graph's line. */
const known = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);

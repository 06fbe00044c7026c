/** Graphs of the memory of a pod's containers and their limits, from metrics.k8s.io. Values are kept only while the page is open. */
import { quantityValue } from '@podwright/kube-api';
import { useMemo } from 'preact/hooks';
import type { KubeObject, Pod, Resource } from '../api/objects.ts';
import { call } from '../api/request.ts';
import { pathOf } from '../api/resources.ts';
import { useAnswer } from '../state/answer.ts';
import { useApp } from '../state/app.ts';
import { bytesText } from '../state/text.ts';
import { Graph } from '../widgets/graph.tsx';
import { Mark } from '../widgets/marks.tsx';
import { Meter } from '../widgets/meter.tsx';
import { Panel } from '../widgets/panel.tsx';

const PERIOD_MS = 10_000;
/** Number of values that are kept: those of an hour. */
const MAX_SAMPLES = 360;

type PodMetrics = KubeObject & { containers?: { name: string; usage?: { cpu?: string; memory?: string } }[] };
type Kept = { times: number[]; bytes: Map<string, number[]> };

/** Reads the memory of the containers periodically, and keeps the values. */
function useMemory({ metadata: { namespace, name, uid } }: Pod, metrics: Resource) {
  const kept = useMemo<Kept>(() => ({ times: [], bytes: new Map() }), [uid]);
  const read = async (signal: AbortSignal): Promise<Kept> => {
    // a list, because a pod that does not run has no metrics: a list is empty then, where a single object would be an error
    const query = { fieldSelector: `metadata.name=${name}` };
    const { items = [] } = await call<{ items?: PodMetrics[] }>(pathOf(metrics, { namespace }), { query, signal });
    const { containers = [] } = items.find(({ metadata }) => metadata.name === name) ?? {};
    if (containers.length > 0) keep(kept, containers);
    return { times: [...kept.times], bytes: new Map([...kept.bytes].map(([one, list]) => [one, [...list]])) };
  };
  return useAnswer(read, [uid], { periodMs: PERIOD_MS });
}

function keep(kept: Kept, containers: NonNullable<PodMetrics['containers']>): void {
  const count = kept.times.push(Date.now() / 1000);
  for (const { name, usage } of containers) {
    const list = kept.bytes.get(name) ?? new Array<number>(count - 1).fill(Number.NaN);
    while (list.length < count - 1) list.push(Number.NaN);
    list.push(bytesOf(usage?.memory));
    kept.bytes.set(name, list);
  }
  for (const list of [kept.times, ...kept.bytes.values()]) if (list.length > MAX_SAMPLES) list.shift();
}

/** Returns the bytes of a quantity; NaN if the text is undefined or not a quantity. */
function bytesOf(text: string | undefined): number {
  try {
    return text === undefined ? Number.NaN : Number(quantityValue(text));
  } catch {
    return Number.NaN;
  }
}

export function MemoryPanel({ pod }: { pod: Pod }) {
  const metrics = useApp().resourceOfKind('PodMetrics', 'metrics.k8s.io');
  return metrics === undefined ? null : <Memory pod={pod} metrics={metrics} />;
}

function Memory({ pod, metrics }: { pod: Pod; metrics: Resource }) {
  const { value } = useMemory(pod, metrics);
  const kills = (pod.status?.containerStatuses ?? []).filter(
    ({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.reason === 'OOMKilled',
  );
  if ((value === undefined || value.times.length === 0) && kills.length === 0) return null;
  return (
    <Panel title="Memory">
      {kills.map(({ name }) => (
        <p key={name}>
          <Mark tone="bad">killed</Mark> {name} used more memory than its limit allows
        </p>
      ))}
      {[...(value?.bytes ?? [])].map(([name, bytes]) => (
        <ContainerMemory key={name} {...{ name, bytes }} times={value!.times} limitBytes={limitOf(pod, name)} />
      ))}
    </Panel>
  );
}

function limitOf({ spec }: Pod, name: string): number | undefined {
  const container = [...spec.containers, ...(spec.initContainers ?? [])].find((one) => one.name === name);
  const bytes = bytesOf(container?.resources?.limits?.memory);
  return Number.isNaN(bytes) ? undefined : bytes;
}

type ContainerMemoryProps = { name: string; times: number[]; bytes: number[]; limitBytes?: number };

function ContainerMemory({ name, times, bytes, limitBytes }: ContainerMemoryProps) {
  const now = bytes.at(-1) ?? Number.NaN;
  const text = `${Number.isNaN(now) ? 'unknown' : bytesText(now)} of ${limitBytes === undefined ? 'no limit' : bytesText(limitBytes)}`;
  const lines = [{ name, values: bytes.map((value) => (Number.isNaN(value) ? null : value)) }];
  return (
    <div>
      <p>
        <strong>{name}</strong> {text}
      </p>
      {limitBytes === undefined ? null : (
        <Meter share={now / limitBytes} label={`Memory of ${name} against its limit`} />
      )}
      <Graph label={`Memory of ${name}: ${text}`} {...{ times, lines, max: limitBytes, text: bytesText }} height={80} />
    </div>
  );
}

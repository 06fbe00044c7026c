/** The nodes with their conditions, and usage graphs for the node on this machine. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { readUsage, type Usage, type UsageSample } from '../api/dashboard.ts';
import type { NodeObject } from '../api/objects.ts';
import { builtIn } from '../api/resources.ts';
import { errorText, useAnswer } from '../state/answer.ts';
import { useApp, useCollection } from '../state/app.ts';
import { bytesText, coresText, countText, percentText } from '../state/text.ts';
import { type Series, seriesOf, withSamples } from '../state/usage-series.ts';
import { Graph, type Line } from '../widgets/graph.tsx';
import { Mark, ObjectLink, Problem, Text } from '../widgets/marks.tsx';
import { Meter } from '../widgets/meter.tsx';

const NODES = builtIn('Node');
const PERIOD_MS = 10_000;

type Kept = { usage: Usage; samples: readonly UsageSample[] };

/** Reads the samples of the last hour, then new ones periodically. */
function useUsage() {
  const kept = useMemo<{ samples: readonly UsageSample[] }>(() => ({ samples: [] }), []);
  const read = async (signal: AbortSignal): Promise<Kept> => {
    const usage = await readUsage(kept.samples.at(-1)?.time, signal);
    kept.samples = withSamples(kept.samples, usage.samples);
    return { usage, samples: kept.samples };
  };
  return useAnswer(read, [], { periodMs: PERIOD_MS });
}

export function NodePanel() {
  const { session } = useApp();
  const nodes = useCollection<NodeObject>(NODES);
  return (
    <section aria-label="Machine" class="machine">
      {nodes.list.map((node) => (
        <NodeLine key={node.metadata.uid} node={node} />
      ))}
      {session === undefined ? <Measuring /> : session.node === undefined ? null : <UsageTiles />}
    </section>
  );
}

/** Conditions that indicate a problem when True, with the text to show. */
const PRESSURES: Record<string, string> = {
  MemoryPressure: 'memory pressure',
  DiskPressure: 'disk pressure',
  PIDPressure: 'too many processes',
  NetworkUnavailable: 'no network',
};

function NodeLine({ node: { metadata, spec, status } }: { node: NodeObject }) {
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const pressures = conditions.filter(({ type, status: is }) => PRESSURES[type] !== undefined && is === 'True');
  const { kubeletVersion, osImage, kernelVersion, architecture } = status?.nodeInfo ?? {};
  return (
    <div class="node-line">
      <h1>
        <ObjectLink object={{ kind: 'Node', namespace: '', name: metadata.name ?? '' }} />
      </h1>
      {ready?.status === 'True' ? (
        <Mark tone="good">Ready</Mark>
      ) : (
        <Mark tone="bad">
          <Text>{`Not ready${ready?.message ? `: ${ready.message}` : ''}`}</Text>
        </Mark>
      )}
      {pressures.map(({ type, message }) => (
        <Mark tone="bad" key={type}>
          <span title={message}>{PRESSURES[type]}</span>
        </Mark>
      ))}
      {pressures.length === 0 && ready?.status === 'True' ? <Mark tone="calm">no pressure</Mark> : null}
      {spec?.unschedulable ? <Mark tone="warn">cordoned</Mark> : null}
      <span class="faint">
        <Text>{[kubeletVersion, osImage, kernelVersion, architecture].filter(Boolean).join(' · ')}</Text>
      </span>
    </div>
  );
}

/** Placeholders of the same size, shown in place of the tiles until the first sample arrives. */
const Measuring = () => (
  <div class="tiles">
    {['CPU', 'Memory', 'Disk', 'Images', 'Network'].map((title) => (
      <div class="tile" key={title}>
        <h2>{title}</h2>
        <p class="faint">measuring …</p>
      </div>
    ))}
  </div>
);

function UsageTiles() {
  const { value, error } = useUsage();
  const series = useMemo(() => value && seriesOf(value.samples, value.usage.periodMs), [value]);
  const last = value?.samples.at(-1);
  if (value === undefined || series === undefined || last === undefined) {
    const text = errorText(error);
    return text === undefined ? (
      <Measuring />
    ) : (
      <Problem what="The usage of the machine cannot be read">{text}</Problem>
    );
  }
  return <Tiles usage={value.usage} series={series} last={last} />;
}

function Tiles({ usage, series, last }: { usage: Usage; series: Series; last: UsageSample }) {
  const cores = last.cpuNanoCores / 1e9;
  const { rootfs, images, memoryWorkingSetBytes } = last;
  return (
    <div class="tiles">
      <Tile
        title="CPU"
        now={
          cores === 0 ? 'measuring …' : `${percentText(cores / usage.cpuCores)} of ${countText(usage.cpuCores, 'core')}`
        }
        share={cores / usage.cpuCores}
        {...{
          times: series.times,
          lines: [{ name: 'cores', values: series.cpuCores }],
          max: usage.cpuCores,
          text: coresText,
        }}
      />
      <Tile
        title="Memory"
        now={`${bytesText(memoryWorkingSetBytes)} of ${bytesText(usage.memoryBytes)}`}
        share={memoryWorkingSetBytes / usage.memoryBytes}
        {...{
          times: series.times,
          lines: [{ name: 'bytes', values: series.memoryBytes }],
          max: usage.memoryBytes,
          text: bytesText,
        }}
      />
      <Tile
        title="Disk"
        now={`${bytesText(rootfs.usedBytes)} of ${bytesText(rootfs.capacityBytes)}`}
        share={rootfs.usedBytes / rootfs.capacityBytes}
        {...{
          times: series.times,
          lines: [{ name: 'bytes', values: series.diskBytes }],
          max: rootfs.capacityBytes,
          text: bytesText,
        }}
      >
        {rootfs.inodes > 0 ? <span class="faint">inodes {percentText(rootfs.inodesUsed / rootfs.inodes)}</span> : null}
      </Tile>
      <Tile
        title="Images"
        now={bytesText(images.usedBytes)}
        share={images.capacityBytes > 0 ? images.usedBytes / images.capacityBytes : undefined}
        {...{ times: series.times, lines: [{ name: 'bytes', values: series.imageBytes }], text: bytesText }}
      />
      <NetworkTile series={series} />
    </div>
  );
}

function NetworkTile({ series: { times, receivedRate, sentRate } }: { series: Series }) {
  const lines: Line[] = [
    { name: 'received', values: receivedRate },
    { name: 'sent', values: sentRate },
  ];
  const [received, sent] = [receivedRate.at(-1) ?? 0, sentRate.at(-1) ?? 0];
  const now = `↓ ${bytesText(received)}/s  ↑ ${bytesText(sent)}/s`;
  return (
    <Tile title="Network" now={now} times={times} lines={lines} text={bytesText}>
      <span class="faint">dashed: sent</span>
    </Tile>
  );
}

type TileProps = {
  title: string;
  now: string;
  share?: number;
  times: readonly number[];
  lines: readonly Line[];
  max?: number;
  text(value: number): string;
  children?: ComponentChildren;
};

function Tile({ title, now, share, children, ...graph }: TileProps) {
  return (
    <div class="tile">
      <h2>{title}</h2>
      <p class="value">{now}</p>
      {share === undefined ? null : <Meter share={share} label={`${title}: used share`} />}
      {children}
      <div class="tile-graph">
        <Graph {...graph} label={`${title}, last hour. Now: ${now}`} />
      </div>
    </div>
  );
}

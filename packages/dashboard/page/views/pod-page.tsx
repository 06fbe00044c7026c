/** The page of a pod, with tabs for the overview, logs, a terminal and the YAML. */
import { useEffect } from 'preact/hooks';
import type { EventObject, Pod } from '../api/objects.ts';
import { useApp, useCollection } from '../state/app.ts';
import { EVENTS, PODS } from '../state/collections.ts';
import { objectHref, pageHref } from '../state/route.ts';
import { viewOf } from '../state/trouble.ts';
import { lazy } from '../widgets/lazy.tsx';
import { Ago, Mark, ObjectLink, Problem, Text, TONES, Waiting } from '../widgets/marks.tsx';
import { Fact, Facts, Panel, Tabs } from '../widgets/panel.tsx';
import { ContainersPanel } from './containers-panel.tsx';
import { EventList } from './events-page.tsx';
import { MemoryPanel } from './memory-panel.tsx';
import { ProbesPanel } from './probes-panel.tsx';
import { RelationsPanel } from './relations-panel.tsx';
import { StartPanel } from './start-panel.tsx';
import { TimelinePanel } from './timeline-panel.tsx';
import { VolumesPanel } from './volumes-panel.tsx';
import { WhyPanel } from './why-panel.tsx';

const LogView = lazy('the log view', async () => (await import('../logs/log-view.tsx')).LogView);
const TerminalView = lazy('the terminal', async () => (await import('../terminal/terminal-view.tsx')).TerminalView);
const YamlView = lazy('the editor', async () => (await import('../yaml/yaml-view.tsx')).YamlView);

const TABS = [
  { id: '', title: 'Overview' },
  { id: 'logs', title: 'Logs' },
  { id: 'terminal', title: 'Terminal' },
  { id: 'yaml', title: 'YAML' },
];

type PodPageProps = { namespace: string; name: string; tab: string };

export function PodPage({ namespace, name, tab }: PodPageProps) {
  const pods = useCollection<Pod>(PODS, { namespace, fieldSelector: `metadata.name=${name}` });
  const [pod] = pods.list;
  const state = pods.state.value;
  useEffect(() => {
    document.title = `${name} · Podwright`;
  }, [name]);
  if (state.kind === 'refused') return <Problem what={`Pod ${name} cannot be read`}>{state.message}</Problem>;
  if (pod === undefined && state.kind === 'loading') return <Waiting what={`Reading pod ${name}`} />;
  if (pod === undefined)
    return (
      <>
        <Problem what={`There is no pod ${name} in namespace ${namespace}`} />
        <a href={pageHref('')}>Overview</a>
      </>
    );
  return <KnownPod pod={pod} tab={tab} />;
}

function KnownPod({ pod, tab }: { pod: Pod; tab: string }) {
  const { namespace, name, uid } = pod.metadata;
  const { now } = useApp();
  const events = useCollection<EventObject>(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid}` });
  const view = viewOf(pod, events.list, now.peek());
  const tabs = TABS.map(({ id, title }) => ({ id, title, href: objectHref(PODS, { namespace, name }, id) }));
  return (
    <>
      <div class="title">
        <h1>
          <span class="faint">{namespace}/</span>
          {name}
        </h1>
        <Mark tone={TONES[view.level]}>
          <Text>{view.status}</Text>
        </Mark>
        <span class="faint">{view.ready} ready</span>
      </div>
      <Tabs label="Parts of the pod" tabs={tabs} present={tab} />
      {tab === 'logs' ? (
        <LogView key={uid} pod={pod} />
      ) : tab === 'terminal' ? (
        <TerminalView key={uid} pod={pod} />
      ) : tab === 'yaml' ? (
        <YamlView key={uid} resource={PODS} namespace={namespace} name={name} />
      ) : (
        <PodOverview pod={pod} events={events.list} isWell={view.finding === undefined} />
      )}
    </>
  );
}

function PodOverview({ pod, events, isWell }: { pod: Pod; events: readonly EventObject[]; isWell: boolean }) {
  const { spec } = pod;
  const { namespace, name, uid } = pod.metadata;
  return (
    <div class="panels">
      {isWell ? null : <WhyPanel resource={PODS} namespace={namespace} name={name} />}
      <ContainersPanel pod={pod} />
      <PodFacts pod={pod} />
      <TimelinePanel pod={pod} events={events} />
      {spec.nodeName === undefined ? null : <StartPanel node={spec.nodeName} uid={uid} />}
      <ProbesPanel pod={pod} events={events} />
      <MemoryPanel pod={pod} />
      <Panel title="Events" wide>
        <EventList events={events} />
      </Panel>
      <RelationsPanel resource={PODS} object={pod} />
      <VolumesPanel pod={pod} />
      {isWell ? <WhyPanel resource={PODS} namespace={namespace} name={name} /> : null}
    </div>
  );
}

function PodFacts({ pod: { metadata, spec, status } }: { pod: Pod }) {
  const ips = (status?.podIPs ?? []).map(({ ip }) => ip).join(', ') || status?.podIP;
  return (
    <Panel title="Pod">
      <Facts>
        <Fact name="Phase">{status?.phase ?? 'Pending'}</Fact>
        <Fact name="Age">
          <Ago time={metadata.creationTimestamp} />
        </Fact>
        <Fact name="Node">
          {spec.nodeName === undefined ? (
            'not assigned'
          ) : (
            <ObjectLink object={{ kind: 'Node', namespace: '', name: spec.nodeName }} />
          )}
        </Fact>
        <Fact name="Address">{ips ?? 'none'}</Fact>
        <Fact name="QoS class">{status?.qosClass ?? '–'}</Fact>
        <Fact name="Restart policy">{spec.restartPolicy ?? 'Always'}</Fact>
        <Fact name="Labels">
          <Pairs pairs={metadata.labels} />
        </Fact>
      </Facts>
    </Panel>
  );
}

/** A list of labels or annotations. */
export function Pairs({ pairs = {} }: { pairs?: Record<string, string> }) {
  const entries = Object.entries(pairs);
  if (entries.length === 0) return <span class="faint">none</span>;
  return (
    <ul class="pairs">
      {entries.map(([key, value]) => (
        <li key={key}>
          <Text>{`${key}=${value}`}</Text>
        </li>
      ))}
    </ul>
  );
}

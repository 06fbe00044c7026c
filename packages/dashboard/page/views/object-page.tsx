/** The page of any object except a pod. */
import { useEffect } from 'preact/hooks';
import type { Condition, EventObject, KubeObject, ObjectName, Resource, ServiceObject } from '../api/objects.ts';
import { call, messageOf } from '../api/request.ts';
import { pathOf, resourceOf } from '../api/resources.ts';
import { useAnswer } from '../state/answer.ts';
import { useApp, useCollection } from '../state/app.ts';
import { EVENTS } from '../state/collections.ts';
import { ROLLED_KINDS } from '../state/rollout.ts';
import { listHref, objectHref } from '../state/route.ts';
import { lazy } from '../widgets/lazy.tsx';
import { Ago, Mark, Problem, Text, Waiting } from '../widgets/marks.tsx';
import { Fact, Facts, Panel, Tabs } from '../widgets/panel.tsx';
import { DataPanel } from './data-panel.tsx';
import { EventList } from './events-page.tsx';
import { Pairs } from './pod-page.tsx';
import { RelationsPanel } from './relations-panel.tsx';
import { RolloutPanel } from './rollout-list.tsx';
import { ServicePanel } from './service-panel.tsx';
import { isExplained, WhyPanel } from './why-panel.tsx';

const YamlView = lazy('the editor', async () => (await import('../yaml/yaml-view.tsx')).YamlView);

type ObjectPageProps = { id: string; namespace: string; name: string; tab: string };

const PERIOD_MS = 5000;

export function ObjectPage({ id, namespace, name, tab }: ObjectPageProps) {
  const resource = resourceOf(id, useApp().resources.value);
  useEffect(() => {
    document.title = `${name} · Podwright`;
  }, [name]);
  if (resource === undefined) return <Problem what={`The API server has no resource ${id}`} />;
  const tabs = [
    { id: '', title: 'Overview' },
    { id: 'yaml', title: 'YAML' },
  ].map((one) => ({ ...one, href: objectHref(resource, { namespace, name }, one.id) }));
  return (
    <>
      <div class="title">
        <h1>
          <span class="faint">
            <a href={listHref(resource)}>{resource.kind}</a> {namespace === '' ? '' : `${namespace}/`}
          </span>
          <Text>{name}</Text>
        </h1>
      </div>
      <Tabs label="Parts of the object" tabs={tabs} present={tab} />
      {tab === 'yaml' ? (
        <YamlView resource={resource} namespace={namespace} name={name} />
      ) : (
        <ObjectOverview resource={resource} object={{ kind: resource.kind, namespace, name }} />
      )}
    </>
  );
}

function ObjectOverview({ resource, object: { namespace, name } }: { resource: Resource; object: ObjectName }) {
  const path = pathOf(resource, { namespace, name });
  const { value, error, isReading } = useAnswer((signal) => call<KubeObject>(path, { signal }), [path], {
    periodMs: PERIOD_MS,
  });
  if (value === undefined)
    return isReading ? (
      <Waiting what={`Reading ${name}`} />
    ) : (
      <Problem what={`${name} cannot be read`}>{messageOf(error)}</Problem>
    );
  const hasRollouts = ROLLED_KINDS.some((kind) => kind === resource.kind);
  return (
    <div class="panels">
      {error === undefined ? null : <Problem what="The object is not current">{messageOf(error)}</Problem>}
      {isExplained(resource) ? <WhyPanel resource={resource} namespace={namespace} name={name} /> : null}
      {hasRollouts ? <RolloutPanel kind={resource.kind} object={value} /> : null}
      {resource.kind === 'Service' ? <ServicePanel service={value as ServiceObject} /> : null}
      <DataPanel kind={resource.kind} object={value} />
      <MetadataPanel object={value} />
      <ConditionsPanel object={value} />
      <RelationsPanel resource={resource} object={value} />
      <ObjectEvents resource={resource} object={value} />
    </div>
  );
}

function MetadataPanel({ object: { metadata } }: { object: KubeObject }) {
  return (
    <Panel title="Object">
      <Facts>
        <Fact name="Age">
          <Ago time={metadata.creationTimestamp} />
        </Fact>
        {metadata.deletionTimestamp === undefined ? null : (
          <Fact name="State">
            <Mark tone="warn">being deleted</Mark> {metadata.finalizers?.join(', ')}
          </Fact>
        )}
        <Fact name="Labels">
          <Pairs pairs={metadata.labels} />
        </Fact>
        <Fact name="Annotations">
          <Pairs pairs={metadata.annotations} />
        </Fact>
      </Facts>
    </Panel>
  );
}

function ConditionsPanel({ object }: { object: KubeObject }) {
  const { conditions } = (object as { status?: { conditions?: Condition[] } }).status ?? {};
  if (!Array.isArray(conditions) || conditions.length === 0) return null;
  return (
    <Panel title="Conditions">
      <ul class="conditions">
        {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
          <li key={type}>
            <strong>
              <Text>{type}</Text>
            </strong>{' '}
            <Text>{status}</Text>{' '}
            <span class="faint">
              for <Ago time={lastTransitionTime} />
            </span>
            <p class="faint">
              <Text>{[reason, message].filter(Boolean).join(': ')}</Text>
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function ObjectEvents({ resource, object: { metadata } }: { resource: Resource; object: KubeObject }) {
  const selector = `involvedObject.kind=${resource.kind},involvedObject.name=${metadata.name}`;
  const events = useCollection<EventObject>(EVENTS, { namespace: metadata.namespace, fieldSelector: selector });
  return (
    <Panel title="Events" wide>
      <EventList events={events.list} />
    </Panel>
  );
}

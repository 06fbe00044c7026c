/** Pages with lists: navigation sections, single resources, and resources outside the sections. */
import { useState } from 'preact/hooks';
import type { Resource } from '../api/objects.ts';
import { builtIn, isKnown, resourceId, resourceOf, SECTIONS } from '../api/resources.ts';
import { useApp } from '../state/app.ts';
import { listHref } from '../state/route.ts';
import { Problem } from '../widgets/marks.tsx';
import { Tabs } from '../widgets/panel.tsx';
import { ResourceTable } from './resource-table.tsx';
import { ServiceTable } from './service-table.tsx';

/** The page of a section: a list of its first resource, and tabs for the others. */
export function SectionPage({ section }: { section: string }) {
  const found = SECTIONS.find(({ id }) => id === section)!;
  return <ResourceList resource={found.resources[0]!} section={found} />;
}

export function ListPage({ id }: { id: string }) {
  const { resources } = useApp();
  const resource = resourceOf(id, resources.value);
  if (resource === undefined) return <Problem what={`The API server has no resource ${id}`} />;
  const section = SECTIONS.find((one) => one.resources.some((known) => resourceId(known) === id));
  return <ResourceList resource={resource} section={section} />;
}

const SERVICES = resourceId(builtIn('Service'));

type Section = (typeof SECTIONS)[number];

function ResourceList({ resource, section }: { resource: Resource; section: Section | undefined }) {
  const all = useApp().resources.value;
  const Table = resourceId(resource) === SERVICES ? ServiceTable : ResourceTable;
  const tabs = (section?.resources ?? [])
    .filter((one) => all.some((known) => resourceId(known) === resourceId(one)))
    .map((one) => ({ id: resourceId(one), title: titleOf(one), href: listHref(one) }));
  return (
    <>
      <h1>{section?.title ?? resource.kind}</h1>
      {section === undefined ? (
        <p class="faint">{[resource.group, resource.version].filter(Boolean).join('/')}</p>
      ) : (
        <Tabs label={section.title} tabs={tabs} present={resourceId(resource)} />
      )}
      <Table key={resourceId(resource)} resource={resource} />
    </>
  );
}

/** Returns the plural of a kind as separate words, such as `Stateful sets` for `StatefulSet`. */
function titleOf({ kind }: Resource): string {
  const words = kind.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  const many = /s$/.test(words) ? `${words}es` : words.endsWith('y') ? `${words.slice(0, -1)}ies` : `${words}s`;
  return many.charAt(0).toUpperCase() + many.slice(1);
}

/** Links to resources that are not in any section: custom resources and rarely used built-in ones. */
export function CustomPage() {
  const all = useApp().resources.value;
  const [filter, setFilter] = useState('');
  const others = all
    .filter((one) => !isKnown(one))
    .filter((one) => `${one.kind} ${one.plural}.${one.group}`.toLowerCase().includes(filter.toLowerCase()));
  const groups = Map.groupBy(others, ({ group }) => group);
  return (
    <>
      <h1>Custom and other resources</h1>
      <div class="list-head">
        <input
          type="search"
          aria-label="Filter kinds"
          placeholder="Filter"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </div>
      {[...groups].map(([group, resources]) => (
        <section key={group} aria-label={group || 'core'}>
          <h2 class="group">{group || 'core'}</h2>
          <ul class="kinds">
            {resources.map((resource) => (
              <li key={resourceId(resource)} data-row>
                <a href={listHref(resource)}>{resource.kind}</a> <span class="faint">{resource.version}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

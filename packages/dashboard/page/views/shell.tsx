/** The frame around every page: navigation, search, namespace and connection state. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Session } from '../api/dashboard.ts';
import type { KubeObject } from '../api/objects.ts';
import { builtIn, resourceId, SECTIONS } from '../api/resources.ts';
import { useAllowed, useApp, useCollection, useScoped } from '../state/app.ts';
import { PODS } from '../state/collections.ts';
import { pageHref, type Route } from '../state/route.ts';
import { SearchButton } from './search-box.tsx';

const PAGES = [
  { id: '', title: 'Overview' },
  ...SECTIONS.map(({ id, title }) => ({ id, title })),
  { id: 'images', title: 'Images' },
  { id: 'events', title: 'Events' },
  { id: 'custom', title: 'Custom' },
];

export function Shell({ children }: { children: ComponentChildren }) {
  const { session, isHelpOpen } = useApp();
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href="#/">
          Podwright
        </a>
        <SearchButton />
        <NamespaceChoice />
        <button type="button" class="quiet" onClick={() => (isHelpOpen.value = true)} aria-label="Help: keys">
          ?
        </button>
        {session === undefined ? null : <User session={session} />}
      </header>
      <Navigation />
      <Connection />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

/** Shows the user, and whether they have read-only access, judging by Deployments. */
function User({ session: { server, apiVersion, user } }: { session: Session }) {
  const { namespace } = useApp();
  const mayChange = useAllowed({ verb: 'patch', group: 'apps', resource: 'deployments', namespace });
  return (
    <span class="faint user" title={`API server ${server} (${apiVersion})`}>
      {user.username}
      {mayChange === false ? ' (read-only)' : ''}
    </span>
  );
}

function Navigation() {
  const { value: route } = useApp().route;
  const present = sectionOf(route);
  return (
    <nav class="sections" aria-label="Pages">
      {PAGES.map(({ id, title }) => (
        <a key={id} href={id === '' ? '#/' : pageHref(id)} aria-current={id === present ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

/** Returns the ID of the navigation section that a page belongs to; '' for the overview. */
function sectionOf(route: Route): string {
  if (route.page === 'overview') return '';
  if (route.page === 'section') return route.section;
  if (route.page === 'pod') return 'workloads';
  if (route.page !== 'list' && route.page !== 'object') return route.page;
  const found = SECTIONS.find(({ resources }) => resources.some((one) => resourceId(one) === route.resource));
  return found?.id ?? 'custom';
}

const NAMESPACES = builtIn('Namespace');

/** Selects the namespace to show. If namespaces cannot be listed, the user enters its name. */
function NamespaceChoice() {
  const { session } = useApp();
  return session?.listsAll === false ? <LimitedChoice /> : <AnyChoice />;
}

/** Namespace selection for users who may list pods in all namespaces. */
function AnyChoice() {
  const namespaces = useCollection<KubeObject>(NAMESPACES);
  const names = namespaces.list.map(({ metadata }) => metadata.name ?? '').sort();
  if (namespaces.state.value.kind === 'refused') return <NamespaceField names={[]} />;
  return <NamespaceSelect names={names} hasAll />;
}

/** Namespace selection for users who may only list pods in some namespaces. */
function LimitedChoice() {
  const app = useApp();
  const found = app.namespaces.value;
  if (found?.areListed === false) return <NamespaceField names={found.names} />;
  return <NamespaceSelect names={found?.names ?? []} onFocus={() => void app.readNamespaces()} />;
}

type SelectProps = { names: readonly string[]; hasAll?: boolean; onFocus?(): void };

function NamespaceSelect({ names, hasAll = false, onFocus }: SelectProps) {
  const app = useApp();
  const chosen = app.namespace;
  const all = chosen === '' || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <select
      aria-label="Namespace"
      value={chosen}
      onFocus={onFocus}
      onChange={({ currentTarget }) => app.setNamespace(currentTarget.value)}
    >
      {hasAll ? <option value="">All namespaces</option> : null}
      {all.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** An input field for a namespace, with suggestions. Applied when the user presses Enter or leaves the field. */
function NamespaceField({ names }: { names: readonly string[] }) {
  const app = useApp();
  return (
    <>
      <input
        type="text"
        class="namespace"
        aria-label="Namespace"
        placeholder={app.session?.listsAll ? 'All namespaces' : 'Namespace'}
        list="namespaces"
        autocomplete="off"
        spellcheck={false}
        value={app.namespace}
        onChange={({ currentTarget }) => app.setNamespace(currentTarget.value.trim())}
      />
      <datalist id="namespaces">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** How often a page that lost its connection checks whether its session has ended. */
const CHECK_MS = 3000;

/** A banner shown while the watch of pods is interrupted. */
function Connection() {
  const app = useApp();
  const state = useScoped(PODS).state.value;
  const isLost = state.kind === 'stale';
  useEffect(() => {
    if (!isLost) return;
    const timer = setInterval(() => void app.checkSession(), CHECK_MS);
    return () => clearInterval(timer);
  }, [app, isLost]);
  return (
    <div role="status" aria-live="polite">
      {state.kind === 'stale' ? (
        <p class="banner">
          <span aria-hidden="true">▲ </span>Connection lost ({state.message}). The page shows what was received before,
          and reconnects.
        </p>
      ) : null}
    </div>
  );
}

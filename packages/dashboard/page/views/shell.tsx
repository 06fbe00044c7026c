/** The frame of every page: navigation, search, namespace, and the state of the connection. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../api/objects.ts';
import { builtIn, resourceId, SECTIONS } from '../api/resources.ts';
import { useApp, useCollection } from '../state/app.ts';
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
        <span class="faint user" title={session && `API server ${session.server} (${session.apiVersion})`}>
          {session?.user.username}
          {session?.canWrite === false ? ' (read-only)' : ''}
        </span>
      </header>
      <Navigation />
      <Connection />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
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

/** Returns the ID of the navigation entry that a page belongs to. */
function sectionOf(route: Route): string {
  if (route.page === 'overview') return '';
  if (route.page === 'section') return route.section;
  if (route.page === 'pod') return 'workloads';
  if (route.page !== 'list' && route.page !== 'object') return route.page;
  const found = SECTIONS.find(({ resources }) => resources.some((one) => resourceId(one) === route.resource));
  return found?.id ?? 'custom';
}

const NAMESPACES = builtIn('Namespace');

function NamespaceChoice() {
  const app = useApp();
  const namespaces = useCollection<KubeObject>(NAMESPACES);
  const chosen = app.namespace.value;
  const names = namespaces.list.map(({ metadata }) => metadata.name ?? '').sort();
  const all = chosen === '' || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <select
      aria-label="Namespace"
      value={chosen}
      onChange={({ currentTarget }) => app.setNamespace(currentTarget.value)}
    >
      <option value="">All namespaces</option>
      {all.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Period at which a page that has lost its connection checks whether its session has ended. */
const CHECK_MS = 3000;

/** A banner that is shown while the watch of pods is interrupted. */
function Connection() {
  const app = useApp();
  const state = useCollection(PODS).state.value;
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

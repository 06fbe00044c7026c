/** State shared by all views, created once by main.tsx and provided as a Preact context. */
import { Limiter } from '@podwright/base';
import { type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo } from 'preact/hooks';
import { type AccessAttributes, isAllowed } from '../api/access.ts';
import {
  exchangeToken,
  type Namespaces,
  readNamespaces,
  readSession,
  type Session,
  takeToken,
} from '../api/dashboard.ts';
import { discover } from '../api/discovery.ts';
import type { KubeObject, ObjectName, Resource } from '../api/objects.ts';
import { isSignedOut, messageOf } from '../api/request.ts';
import { SECTIONS } from '../api/resources.ts';
import { forgetSessionKey, sessionKey } from '../api/session-key.ts';
import { useAnswer } from './answer.ts';
import type { Collection } from './collection.ts';
import { type CollectionQuery, Collections } from './collections.ts';
import { objectHref, type Route, routeOf } from './route.ts';
import { SearchEntries } from './search-entries.ts';

export type SessionState =
  | { kind: 'starting' }
  /** The page has a session key. The first response will show whether the session still exists. */
  | { kind: 'ready' }
  /** The page has no session. The user needs a new link, printed by the command. */
  | { kind: 'signed-out' }
  /** Exchanging the link for a session failed. It will be retried. */
  | { kind: 'failed'; message: string };

const NAMESPACE = 'podwright-namespace';
/** Maximum number of namespaces to search if each one must be listed separately. */
const MAX_SEARCHED = 20;
/**
 * Maximum number of concurrent explanations for lists of pods. Each can take seconds if a kubelet does not answer, and browsers open at
 * most six connections to a host, which the page's other requests need too.
 */
const MAX_EXPLAINING = 2;
const RETRY_MS = 2000;
const CLOCK_MS = 1000;

export class App {
  readonly route: Signal<Route> = signal(routeOf(location.hash));
  readonly state: Signal<SessionState> = signal({ kind: 'starting' });
  /** All resources that can be listed. Until discovery succeeds, the built-in resources of the navigation. */
  readonly resources: Signal<readonly Resource[]> = signal(SECTIONS.flatMap(({ resources }) => resources));
  /** The namespace that the user chose in this tab; '' for all, undefined before the first choice. */
  readonly #chosen: Signal<string | undefined> = signal(sessionStorage.getItem(NAMESPACE) ?? undefined);
  /** The current time in Unix milliseconds, for showing ages. Not updated while the page is in the background. */
  readonly now = signal(Date.now());
  readonly collections = new Collections();
  readonly entries = new SearchEntries();
  /** Limits the requests for explanations that a list makes for each of its pods. */
  readonly explaining = new Limiter(MAX_EXPLAINING);
  /** The namespaces offered to a user who may not list pods in all namespaces; undefined until they have been read. */
  readonly namespaces: Signal<Namespaces | undefined> = signal(undefined);
  readonly isHelpOpen = signal(false);
  readonly isSearchOpen = signal(false);
  readonly #session: Signal<Session | undefined> = signal(undefined);
  readonly #abort = new AbortController();
  /** The token of a link that has not been exchanged yet because the server did not respond. */
  #token: string | undefined;

  start(): void {
    const { signal } = this.#abort;
    window.addEventListener('hashchange', () => this.#onFragment(), { signal });
    setInterval(() => {
      if (!document.hidden) this.now.value = Date.now();
    }, CLOCK_MS);
    void this.#open();
  }

  /** Information about the session, undefined until it has been read. */
  get session(): Session | undefined {
    return this.#session.value;
  }

  /** The namespace that lists are limited to, or '' for all. */
  get namespace(): string {
    const { listsAll, startNamespace = '' } = this.session ?? {};
    const chosen = this.#chosen.value ?? startNamespace;
    return chosen === '' && listsAll === false ? startNamespace : chosen;
  }

  /**
   * The namespace whose objects are read; '' for all. If the user may list pods in all namespaces, all objects are read and the page
   * filters them, so that switching namespaces is instant.
   */
  get scope(): string {
    return this.session?.listsAll === false ? this.namespace : '';
  }

  setNamespace(namespace: string): void {
    sessionStorage.setItem(NAMESPACE, namespace);
    this.#chosen.value = namespace;
  }

  /** Reads the namespaces to offer. On failure, the previous ones are retained. */
  async readNamespaces(): Promise<void> {
    try {
      this.namespaces.value = await readNamespaces(this.#abort.signal);
    } catch {
      // ignored, because the current namespace is offered even if reading the others has failed
    }
  }

  /** The namespaces to search; undefined if all namespaces can be listed at once. */
  get searchedNamespaces(): string[] | undefined {
    if (this.session?.listsAll !== false) return undefined;
    const others = (this.namespaces.value?.names ?? []).filter((name) => name !== this.namespace);
    return [this.namespace, ...others].slice(0, MAX_SEARCHED);
  }

  /** Returns the link to an object's page, or undefined if no resource of this kind can be listed. */
  hrefOf({ kind, namespace, name }: ObjectName, group?: string): string | undefined {
    const resource = this.resourceOfKind(kind, group);
    return resource && objectHref(resource, { namespace, name });
  }

  resourceOfKind(kind: string, group?: string): Resource | undefined {
    return this.resources.value.find((one) => one.kind === kind && (group === undefined || one.group === group));
  }

  /** Checks whether the session has ended, because the page cannot see the status of a rejected WebSocket. Other failures are ignored. */
  async checkSession(): Promise<void> {
    try {
      await readSession(this.#abort.signal);
    } catch (error) {
      if (isSignedOut(error)) this.#signedOut();
    }
  }

  #signedOut(): void {
    forgetSessionKey();
    this.collections.closeAll();
    this.state.value = { kind: 'signed-out' };
  }

  #onFragment(): void {
    if (/^#token=/.test(location.hash)) void this.#open();
    else this.route.value = routeOf(location.hash);
    window.scrollTo(0, 0);
  }

  /** Exchanges the link's token, if there is one. Views start to list before the session info has been read. */
  async #open(): Promise<void> {
    try {
      await this.#login();
    } catch (error) {
      this.state.value = { kind: 'failed', message: messageOf(error) };
      setTimeout(() => void this.#open(), RETRY_MS);
      return;
    }
    if (sessionKey() === '') {
      this.#signedOut();
      return;
    }
    this.route.value = routeOf(location.hash);
    this.state.value = { kind: 'ready' };
    void this.#describe();
    // later, because the views that are rendered now need the connections for their lists, of which browsers open at most six
    setTimeout(() => void this.#discover(), 0);
  }

  async #describe(): Promise<void> {
    try {
      const session = await readSession(this.#abort.signal);
      this.#session.value = session;
      if (!session.listsAll) void this.readNamespaces();
    } catch (error) {
      if (isSignedOut(error)) this.#signedOut();
      else setTimeout(() => void this.#describe(), RETRY_MS);
    }
  }

  /** Exchanges the token. A rejected token is ignored: it might have been used before, and the session it started might still exist. */
  async #login(): Promise<void> {
    this.#token = takeToken() ?? this.#token;
    if (this.#token === undefined) return;
    try {
      await exchangeToken(this.#token);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
    }
    this.#token = undefined;
  }

  async #discover(): Promise<void> {
    try {
      this.resources.value = await discover(this.#abort.signal);
    } catch (error) {
      // the API server might be restarting; until discovery succeeds, the built-in resources are shown
      if (!isSignedOut(error)) setTimeout(() => void this.#discover(), RETRY_MS * 5);
    }
  }
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('useApp: the component is not inside AppContext.Provider');
  return app;
}

/** A hook that returns a shared collection of the objects in `App.scope`, from which views select those in `App.namespace`. */
export function useScoped<T extends KubeObject>(resource: Resource): Collection<T> {
  return useCollection<T>(resource, { namespace: useApp().scope });
}

/**
 * A hook that returns whether the user may make a request with these attributes; undefined until known. Checked again when the attributes
 * change.
 */
export function useAllowed(attributes: AccessAttributes): boolean | undefined {
  const { verb, group, resource, subresource, namespace } = attributes;
  const read = (signal: AbortSignal) => isAllowed(attributes, signal);
  return useAnswer(read, [verb, group, resource, subresource, namespace]).value;
}

/** Permission to run programs in the pods of a namespace. */
export const execIn = (namespace: string): AccessAttributes => ({
  ...{ verb: 'create', group: '', resource: 'pods', subresource: 'exec' },
  namespace,
});

/** Returns a shared collection that stays open as long as the component is shown. */
export function useCollection<T extends KubeObject>(resource: Resource, query: CollectionQuery = {}): Collection<T> {
  const { collections } = useApp();
  const { namespace, fieldSelector, labelSelector } = query;
  const [collection, release] = useMemo(
    () => collections.use<T>(resource, { namespace, fieldSelector, labelSelector }),
    [collections, resource, namespace, fieldSelector, labelSelector],
  );
  // not useEffect, whose functions are never called if the component is removed before they have run after a paint
  useLayoutEffect(() => release, [release]);
  return collection;
}

/** Registries backed by an in-memory store, with simple rules for a few kinds. */
import assert from 'node:assert/strict';
import { type ApiObject, invalidValue, type Strategies } from '@podwright/kube-kinds';
import { decodeJson, Schema } from '@podwright/kube-schema';
import type { RequestContext } from '../request-context.ts';
import { ApiError, type FailureStatus } from '../status/api-error.ts';
import { MemoryStore } from '../store/memory-store.ts';
import type { StoreOptions } from '../store/object-store.ts';
import type { ListOptions } from './list-options.ts';
import { Registries, type RegistriesParts } from './registries.ts';
import type { ResourceRegistry } from './resource-registry.ts';
import { STORE_INDEXES } from './selection.ts';
import type { WatchEvent } from './watch-objects.ts';

export const schema = await Schema.load();

type Spec = { replicas?: number; paused?: boolean; nodeName?: string; finalizers?: string[] };
const specOf = ({ spec }: ApiObject): Spec => (spec ?? {}) as Spec;

/** Returns the number of replicas of a Deployment and whether it is paused. */
export function desired(object: ApiObject): string {
  const { replicas, paused } = specOf(object);
  return `${replicas}${paused ? ' paused' : ''}`;
}

/**
 * Deployments have a default, a validation rule and generations; pods have grace periods; namespaces wait for their own finalizers.
 * ConfigMaps with an annotation `x` cannot be converted. Events with a negative count are invalid.
 */
const STRATEGIES: Strategies = {
  'deployments.apps': {
    hasGeneration: true,
    countsAnnotations: true,
    applyDefaults: (object) => ({ ...object, spec: { replicas: 1, ...specOf(object) } }),
    validate: (object) => errorsOf(object),
    validateUpdate: (object, old) => [
      ...errorsOf(object),
      ...(specOf(old).paused && !specOf(object).paused
        ? [invalidValue('spec.paused', false, 'field is immutable')]
        : []),
    ],
    warnings: (object, old) => (specOf(object).paused ? [`paused${old === undefined ? '' : ' again'}`] : []),
    subresources: {
      status: {
        prepareForUpdate: (object, old) => ({
          ...old,
          metadata: { ...object.metadata, labels: old.metadata.labels },
          status: object.status,
        }),
        resetFields: [['spec'], ['metadata', 'labels']],
      },
    },
  },
  pods: {
    hasGeneration: true,
    gracePeriodSeconds: (object, requested) => (specOf(object).nodeName ? (requested ?? 30) : 0),
    selectableFields: {
      'spec.nodeName': (object) => specOf(object).nodeName ?? '',
      'status.phase': ({ status }) => (status as { phase?: string }).phase ?? '',
    },
  },
  namespaces: {
    prepareForDelete: (object) => ({ ...object, status: { phase: 'Terminating' } }),
    defersRemoval: (object) => (specOf(object).finalizers ?? []).length > 0,
    subresources: { finalize: { prepareForUpdate: (object, old) => ({ ...old, spec: object.spec }) } },
  },
  'leases.coordination.k8s.io': { allowCreateOnUpdate: true, allowUnconditionalUpdate: false },
  configmaps: { conversionProblem: ({ metadata }) => (metadata.annotations?.x === undefined ? undefined : 'it has x') },
  'jobs.batch': { defaultDeletion: 'orphan' },
  events: {
    validate: ({ count = 0 }) => ((count as number) < 0 ? [invalidValue('count', count, 'is negative')] : []),
    selectableFields: { 'involvedObject.kind': ({ involvedObject }) => (involvedObject as { kind: string }).kind },
  },
};

function errorsOf(object: ApiObject) {
  const { replicas = 0 } = specOf(object);
  return replicas < 0 ? [invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0')] : [];
}

/** Registries of a new store. `warnings`: the warnings sent to clients. */
export class TestRegistries {
  readonly store: MemoryStore;
  readonly warnings: string[] = [];
  readonly #registries: Registries;
  nowMs = 1_000;

  constructor({
    history,
    ...parts
  }: Pick<RegistriesParts, 'admission' | 'conversions'> & Pick<StoreOptions, 'history'> = {}) {
    this.store = new MemoryStore({ indexes: STORE_INDEXES, history });
    this.#registries = new Registries({ store: this.store, schema, strategies: STRATEGIES, ...parts });
  }

  /** Returns the registry for `PLURAL` (core group) or `PLURAL.GROUP/VERSION`. */
  of(name: string): ResourceRegistry {
    const [, plural = '', group = '', version = 'v1'] = /^(\w+)(?:\.(.*)\/(\w+))?$/.exec(name) ?? [];
    return this.#registries.for(schema.resource(group, version, plural)!);
  }

  context(given: Partial<RequestContext> = {}): RequestContext {
    return {
      user: { username: 'tester', groups: [] },
      nowMs: this.nowMs,
      dryRun: false,
      fieldManager: 'tester',
      warn: (message) => this.warnings.push(message),
      ...given,
    };
  }
}

export const at = (name: string, namespace = 'default') => ({ namespace, name });

/** Returns an object in the form that decoding a request body produces. */
export function decoded(apiVersion: string, kind: string, fields: object): ApiObject {
  const type = schema.kindOf({ apiVersion, kind })!;
  return decodeJson({ apiVersion, kind, ...fields }, { schema, type }).object as ApiObject;
}

export const configMap = (name: string, fields: object = {}): ApiObject =>
  decoded('v1', 'ConfigMap', { metadata: { name }, ...fields });

export const deployment = (name: string, spec: object = {}, metadata: object = {}): ApiObject =>
  decoded('apps/v1', 'Deployment', { metadata: { name, ...metadata }, spec });

export const pod = (name: string, spec: object = {}, metadata: object = {}): ApiObject =>
  decoded('v1', 'Pod', { metadata: { name, ...metadata }, spec: { containers: [], ...spec } });

/** Parses the query string of a list or watch, which must be valid, and returns the options. */
export function options(query = ''): ListOptions {
  const given = new URLSearchParams(query);
  const text = (name: string) => given.get(name) ?? '';
  return {
    labelSelector: text('labelSelector'),
    fieldSelector: text('fieldSelector'),
    resourceVersion: text('resourceVersion'),
    resourceVersionMatch: text('resourceVersionMatch'),
    limit: Number(text('limit')),
    continue: text('continue'),
    allowWatchBookmarks: given.has('allowWatchBookmarks'),
    sendInitialEvents: given.has('sendInitialEvents') ? text('sendInitialEvents') === 'true' : undefined,
    timeoutSeconds: Number(text('timeoutSeconds')),
  };
}

/** Returns the status of the `ApiError` thrown by `work`. */
export async function refusal(work: () => unknown): Promise<FailureStatus> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.status;
  }
  return assert.fail('expected an error');
}

/** Returns at least the first `count` events of a watch in the form `TYPE NAME@REVISION`, with a final `END` if the watch ends early. */
export async function events(watch: AsyncIterable<readonly WatchEvent[]>, count: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const batch of watch) {
    seen.push(...batch.map(described));
    if (seen.length >= count) return seen;
  }
  return [...seen, 'END'];
}

function described(event: WatchEvent): string {
  if (event.type === 'BOOKMARK') return `BOOKMARK${event.isInitialEnd ? ' initial' : ''}@${event.revision}`;
  return `${event.type} ${event.object.key.split('/')[1]}@${event.object.revision}`;
}

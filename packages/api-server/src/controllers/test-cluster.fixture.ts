/** A store with the built-in kinds' rules, and controllers that run until the end of the test. */
import {
  groupResource,
  MemoryStore,
  Registries,
  type RequestContext,
  type ResourceRegistry,
  STORE_INDEXES,
  storedResource,
} from '@podwright/api-machinery';
import { pause, silentLogger, waitFor } from '@podwright/base';
import { type ApiObject, CONVERSIONS, STRATEGIES } from '@podwright/kube-kinds';
import { decodeJson, Schema } from '@podwright/kube-schema';
import type { ControllerParts } from './controller-parts.ts';

const schema = await Schema.load();

export class TestCluster implements AsyncDisposable {
  readonly store = new MemoryStore({ indexes: STORE_INDEXES });
  readonly #registries = new Registries({
    schema,
    strategies: STRATEGIES,
    conversions: CONVERSIONS,
    store: this.store,
  });
  readonly #abort = new AbortController();
  readonly #work: Promise<void>[] = [];
  readonly warnings: string[] = [];
  nowMs = Date.parse('2026-01-01T00:00:00Z');

  get parts(): ControllerParts {
    return {
      store: this.store,
      registryOf: (resource) => this.registryOf(resource),
      context: (subresource) => this.context(subresource),
      logger: { ...silentLogger, warn: (fields: object) => this.warnings.push(JSON.stringify(fields)) } as never,
      signal: this.#abort.signal,
    };
  }

  /** Runs a controller until the end of the test. */
  start(controller: (parts: ControllerParts) => Promise<void>): void {
    this.#work.push(controller(this.parts));
  }

  registryOf(resource: string): ResourceRegistry {
    const found = schema.resources.find((one) => groupResource(one) === resource)!;
    return this.#registries.for(storedResource(schema, found));
  }

  context(subresource?: string): RequestContext {
    const user = { username: 'tester', groups: ['testers'] };
    return { user, nowMs: this.nowMs, dryRun: false, fieldManager: 'tester', warn: () => undefined, subresource };
  }

  /** Creates an object at `[NAMESPACE/]NAME`, as a client does. */
  create(
    resource: string,
    path: string,
    given: { metadata?: object; [field: string]: unknown } = {},
  ): Promise<ApiObject> {
    const { namespace, name } = placeOf(path);
    const { metadata, ...fields } = given;
    const { resource: kind } = this.registryOf(resource);
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    const type = schema.kindOf({ apiVersion, kind: kind.kind })!;
    const object = { apiVersion, kind: kind.kind, metadata: { ...metadata, name }, ...fields };
    const decoded = decodeJson(object, { schema, type }).object as ApiObject;
    return this.registryOf(resource).create(namespace, decoded, this.context());
  }

  find(resource: string, path: string): ApiObject | undefined {
    return this.store.get({ resource, ...placeOf(path) })?.decode();
  }

  /** Changes an object, or one of its subresources if `to` is `RESOURCE/SUBRESOURCE`. */
  async change(to: string, path: string, compute: (object: ApiObject) => ApiObject): Promise<void> {
    const [resource = '', subresource] = to.split('/');
    await this.registryOf(resource).change(placeOf(path), compute, this.context(subresource));
  }

  async delete(resource: string, path: string, options: object = {}): Promise<void> {
    await this.registryOf(resource).delete(placeOf(path), options, this.context());
  }

  /** Waits up to ten seconds until the check returns true. */
  async until(check: () => boolean): Promise<void> {
    await waitFor(() => check() || undefined, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
  }

  /** Waits until the controllers no longer write to the store. */
  async atRest(): Promise<void> {
    let revision = -1;
    while (revision !== this.store.revision) {
      revision = this.store.revision;
      await pause(50, this.#abort.signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#work);
  }
}

function placeOf(path: string): { namespace: string; name: string } {
  const [name = '', namespace = ''] = path.split('/').reverse();
  return { namespace, name };
}

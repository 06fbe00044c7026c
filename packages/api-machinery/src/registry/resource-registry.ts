import type { ApiObject, ScaleStrategy } from '@podwright/kube-kinds';
import type { Resource, Schema } from '@podwright/kube-schema';
import type { RequestContext } from '../request-context.ts';
import { notFound } from '../status/api-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { changeScale, type ScaleWrite } from './change-scale.ts';
import { createObject } from './create-object.ts';
import { deleteCollection } from './delete-collection.ts';
import { type Deleted, deleteObject } from './delete-object.ts';
import type { DeleteOptions } from './delete-options.ts';
import { keyIn } from './keys.ts';
import { listObjects, type ObjectList, untilVersion } from './list-objects.ts';
import type { ListOptions } from './list-options.ts';
import { patchObjectAt } from './patch-object.ts';
import type { PatchRequest } from './patched-object.ts';
import type { ResourceParts } from './resource-parts.ts';
import { watchVersion } from './resource-version.ts';
import { mutated, tracked } from './tracked-object.ts';
import { changeObject, type Place, updateObject, type Written } from './update-object.ts';
import { type WatchEvent, type WatchRequest, watchObjects } from './watch-objects.ts';

/**
 * The registry of a resource in one served version, which implements the API's semantics. Objects passed in must be decoded, but not
 * defaulted. The namespace is '' for cluster-scoped kinds and for lists across all namespaces. All methods throw `ApiError`.
 */
export class ResourceRegistry {
  readonly #parts: ResourceParts;
  readonly #schema: Schema;
  readonly #scales: ResourceParts;

  /** `scales`: the dependencies for writes to Scale objects. */
  constructor(parts: ResourceParts, schema: Schema, scales: ResourceParts) {
    this.#parts = parts;
    this.#schema = schema;
    this.#scales = scales;
  }

  get resource(): Resource {
    return this.#parts.kind.resource;
  }

  /** An empty object with the fields that Go never omits, for use in bookmarks. */
  get emptyObject(): ApiObject {
    return this.#parts.kind.emptyObject;
  }

  /** Converts an object to the storage version, as required for computing table columns. */
  toStored(object: ApiObject): ApiObject {
    return this.#parts.kind.toStored(object);
  }

  /** Converts an object from the storage version to this registry's version. */
  fromStored(object: ApiObject): ApiObject {
    return this.#parts.kind.fromStored(object);
  }

  create(namespace: string, object: ApiObject, context: RequestContext): Promise<ApiObject> {
    return createObject(this.#parts, { namespace, object }, context);
  }

  get({ namespace, name }: Place): StoredObject {
    const { kind, store } = this.#parts;
    const stored = store.get(keyIn(kind, namespace, name));
    if (stored === undefined) throw notFound(kind.resource, name);
    return kind.served(stored);
  }

  /** Waits up to three seconds for a future resource version sent by a client. */
  async reach(resourceVersion: string, signal?: AbortSignal): Promise<void> {
    await untilVersion(this.#parts, watchVersion(resourceVersion), signal);
  }

  /** Lists objects. Waits up to three seconds if the requested resource version is in the future. */
  list(namespace: string, options: ListOptions, signal?: AbortSignal): Promise<ObjectList> {
    return listObjects(this.#parts, { namespace, options, signal });
  }

  /** Watches the resource (see `watchObjects`). */
  watch(request: WatchRequest): AsyncIterable<readonly WatchEvent[]> {
    return watchObjects(this.#parts, request);
  }

  update(place: Place, object: ApiObject, context: RequestContext): Promise<Written> {
    return updateObject(this.#parts, { ...place, object }, context);
  }

  /**
   * Updates an object to the result of `compute`, which is called again if the object is concurrently modified. Used by controllers, and
   * for subresources with their own kind, such as `binding`.
   */
  change(place: Place, compute: (object: ApiObject) => ApiObject, context: RequestContext): Promise<Written> {
    const parts = this.#parts;
    const { kind } = parts;
    const change = (old: ApiObject | undefined) => {
      const object = kind.complete(compute(kind.fromStored(old!)));
      return mutated(parts, { object: tracked(parts, { object, old }, context), old }, context);
    };
    return changeObject(parts, { ...place, compute: change, allowCreate: false }, context);
  }

  /** Changes the number of replicas through the `scale` subresource. Returns the object. */
  changeScale(
    place: Place,
    given: { strategy: ScaleStrategy; write: ScaleWrite },
    context: RequestContext,
  ): Promise<Written> {
    const scaling = { schema: this.#schema, scales: this.#scales };
    return changeScale(this.#parts, { ...place, ...given, ...scaling }, context);
  }

  patch(place: Place, request: PatchRequest, context: RequestContext): Promise<Written> {
    return patchObjectAt(this.#parts, { ...place, request, schema: this.#schema }, context);
  }

  delete(place: Place, options: DeleteOptions, context: RequestContext): Promise<Deleted> {
    return deleteObject(this.#parts, { ...place, options }, context);
  }

  /** Deletes the objects selected by `list`, and returns them. */
  deleteCollection(
    { namespace, list }: { namespace: string; list: ListOptions },
    options: DeleteOptions,
    context: RequestContext,
  ): Promise<ObjectList> {
    return deleteCollection(this.#parts, { namespace, list, options }, context);
  }
}

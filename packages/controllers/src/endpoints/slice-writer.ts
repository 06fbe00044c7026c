import { formatTime } from '@podwright/kube-api';
import { ENDPOINT_SLICES, isApiStatus } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import type { EndpointSlice, NewEndpointSlice } from '../objects/endpoint-slice.ts';
import { isNamespaceTerminating } from '../pods/pod-writer.ts';
import { type SliceChanges, TRIGGER_TIME } from './slice-changes.ts';

type Parts = Pick<ControllerParts, 'client' | 'objects' | 'signal'>;

/** How written slices are annotated: with the time of the change that caused the write, if there is one, or not at all (`as they are`). */
export type Trigger = { atMs: number | undefined } | 'as they are';

export class SliceWriter {
  readonly #parts: Parts;
  readonly #slices: ObjectCache<EndpointSlice>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#slices = parts.objects.of(ENDPOINT_SLICES);
  }

  /** Creates, updates and deletes slices. Creates new slices first, so that no endpoint is missing in between. */
  async write(changes: SliceChanges, trigger: Trigger): Promise<void> {
    for (const slice of changes.create) await this.#create(annotated(slice, trigger));
    for (const slice of changes.update) await this.#update(annotated(slice, trigger));
    for (const slice of changes.delete) await this.#delete(slice);
  }

  async #create(slice: NewEndpointSlice): Promise<void> {
    const { client, signal } = this.#parts;
    try {
      this.#slices.written(await client.create<EndpointSlice>(ENDPOINT_SLICES, slice, { signal }));
    } catch (error) {
      if (!isNamespaceTerminating(error)) throw error; // else nothing can be created there any longer
    }
  }

  async #update(slice: EndpointSlice): Promise<void> {
    const { client, signal } = this.#parts;
    const body = { ...slice, apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' };
    this.#slices.written(await client.update<EndpointSlice>(ENDPOINT_SLICES, body, { signal }));
  }

  async #delete({ metadata }: EndpointSlice): Promise<void> {
    const { client, signal } = this.#parts;
    const { namespace, name, uid } = metadata;
    try {
      await client.delete(ENDPOINT_SLICES, { namespace, name }, { preconditions: { uid } }, { signal });
    } catch (error) {
      if (isApiStatus(error, 404) || isApiStatus(error, 409)) return; // it was removed, or replaced
      throw error;
    }
    this.#slices.deleting({ namespace, name }, uid);
  }
}

function annotated<T extends { metadata: { annotations?: Record<string, string> } }>(slice: T, trigger: Trigger): T {
  if (trigger === 'as they are') return slice;
  const { [TRIGGER_TIME]: _before, ...others } = slice.metadata.annotations ?? {};
  const time = trigger.atMs === undefined ? {} : { [TRIGGER_TIME]: formatTime(trigger.atMs) };
  return { ...slice, metadata: { ...slice.metadata, annotations: { ...others, ...time } } };
}

import { counted } from '@podwright/base';
import type { EventRecorder, Node, Pod } from '@podwright/kube-api';
import { apiMessage, ENDPOINT_SLICES, NODES, PODS, SERVICES } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import type { EndpointSlice } from '../objects/endpoint-slice.ts';
import type { Service } from '../objects/service.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import { decideSlices, SLICE_CONTROLLER } from './decide-slices.ts';
import { hasComputedEndpoints } from './service-facts.ts';
import { MANAGED_BY_LABEL, SERVICE_NAME_LABEL } from './slice-changes.ts';
import { SliceWriter } from './slice-writer.ts';
import { TriggerTimes } from './trigger-times.ts';
import { selects, wakeServices } from './wake-services.ts';

/** Maintains the EndpointSlices of Services with selectors. */
export const endpointSliceController: Controller = (parts) => new EndpointSliceController(parts).run();

class EndpointSliceController {
  readonly #parts: ControllerParts;
  readonly #services: ObjectCache<Service>;
  readonly #slices: ObjectCache<EndpointSlice>;
  readonly #pods: ObjectCache<Pod>;
  readonly #nodes: ObjectCache<Node>;
  readonly #events: EventRecorder;
  readonly #writer: SliceWriter;
  readonly #times = new TriggerTimes();
  readonly #queue: WorkQueue;

  constructor(parts: ControllerParts) {
    const { objects, events, logger, signal } = parts;
    this.#parts = parts;
    this.#services = objects.of(SERVICES);
    this.#slices = objects.of(ENDPOINT_SLICES);
    this.#pods = objects.of(PODS);
    this.#nodes = objects.of(NODES);
    this.#events = events('endpoint-slice-controller');
    this.#writer = new SliceWriter(parts);
    const failure = 'failed to sync the EndpointSlices of a Service';
    this.#queue = new WorkQueue({ sync: (key) => this.#sync(key), failure, logger, signal });
  }

  async run(): Promise<void> {
    if (!(await untilSynced(this.#services, this.#slices, this.#pods, this.#nodes))) return;
    const wake = (key: string) => this.#queue.add(key);
    wakeServices({ services: this.#services, pods: this.#pods, wake });
    this.#slices.onChange(({ object: { metadata } }) => {
      const name = metadata.labels?.[SERVICE_NAME_LABEL];
      if (name !== undefined && isManaged(metadata)) wake(placeText({ namespace: metadata.namespace, name }));
    });
    await this.#queue.ended;
  }

  async #sync(key: string): Promise<void> {
    const service = this.#services.get(placeOfText(key));
    if (service === undefined) return this.#times.forget(key);
    if (!hasComputedEndpoints(service)) return;
    const { namespace } = service.metadata;
    const pods = this.#pods.list(namespace).filter(({ metadata }) => selects(service.spec.selector, metadata.labels));
    const atMs = this.#times.next(key, service, pods);
    const { skipped, ...changes } = decideSlices({
      service,
      pods,
      nodeOf: (name) => this.#nodes.get({ name }),
      slices: this.#slicesOf(service),
    });
    const isDeleting = service.metadata.deletionTimestamp !== undefined;
    await this.#write(service, () => this.#writer.write(isDeleting ? { ...changes, create: [] } : changes, { atMs }));
    if (skipped.length > 0) throw new Error(`${counted(skipped.length, 'pod')} on nodes that do not exist`);
  }

  async #write(service: Service, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (this.#parts.signal.aborted) throw error;
      const { namespace, name } = service.metadata;
      const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${apiMessage(error)}`;
      this.#events.event(subjectOf(SERVICES, service), 'Warning', 'FailedToUpdateEndpointSlices', message);
      throw error;
    }
  }

  /** Returns the Service's slices that are managed by this controller and not being deleted. */
  #slicesOf({ metadata: { namespace, name } }: Service): EndpointSlice[] {
    return this.#slices
      .list(namespace)
      .filter(
        ({ metadata }) =>
          metadata.labels?.[SERVICE_NAME_LABEL] === name &&
          isManaged(metadata) &&
          metadata.deletionTimestamp === undefined,
      );
  }
}

function isManaged({ labels }: EndpointSlice['metadata']): boolean {
  return labels?.[MANAGED_BY_LABEL] === SLICE_CONTROLLER;
}

import type { EventRecorder } from '@podwright/kube-api';
import { ENDPOINT_SLICES, SERVICES } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import type { EndpointSlice } from '../objects/endpoint-slice.ts';
import { ENDPOINTS, type Endpoints } from '../objects/endpoints.ts';
import type { Service } from '../objects/service.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import {
  decideMirrored,
  isMirrored,
  MAX_MIRRORED,
  MIRRORING_CONTROLLER,
  type MirrorDecision,
} from './decide-mirrored.ts';
import { SLICE_CONTROLLER } from './decide-slices.ts';
import { hasComputedEndpoints, isOwnedBy } from './service-facts.ts';
import { MANAGED_BY_LABEL, noChanges, SERVICE_NAME_LABEL } from './slice-changes.ts';
import { SliceWriter } from './slice-writer.ts';

/**
 * Mirrors Endpoints of Services without selectors to EndpointSlices, and removes slices left over from when such a Service had a selector.
 */
export const endpointMirroringController: Controller = (parts) => new MirroringController(parts).run();

class MirroringController {
  readonly #services: ObjectCache<Service>;
  readonly #endpoints: ObjectCache<Endpoints>;
  readonly #slices: ObjectCache<EndpointSlice>;
  readonly #events: EventRecorder;
  readonly #writer: SliceWriter;
  readonly #queue: WorkQueue;

  constructor(parts: ControllerParts) {
    const { objects, events, logger, signal } = parts;
    this.#services = objects.of(SERVICES);
    this.#endpoints = objects.of(ENDPOINTS);
    this.#slices = objects.of(ENDPOINT_SLICES);
    this.#events = events('endpoint-slice-mirroring-controller');
    this.#writer = new SliceWriter(parts);
    const failure = 'failed to mirror an Endpoints object';
    this.#queue = new WorkQueue({ sync: (key) => this.#sync(key), failure, logger, signal });
  }

  async run(): Promise<void> {
    if (!(await untilSynced(this.#services, this.#endpoints, this.#slices))) return;
    const wake = ({ object: { metadata } }: { object: Service | Endpoints }) => this.#queue.add(placeText(metadata));
    this.#services.onChange(wake);
    this.#endpoints.onChange(wake);
    this.#slices.onChange(({ object: slice }) => {
      const { namespace, labels } = slice.metadata;
      const name = labels?.[SERVICE_NAME_LABEL];
      if (name === undefined) return;
      const service = this.#services.get({ namespace, name });
      const isOutdated = service !== undefined && isFormerSlice(slice, service);
      if (isOutdated || isManagedBy(slice, MIRRORING_CONTROLLER)) this.#queue.add(placeText({ namespace, name }));
    });
    await this.#queue.ended;
  }

  async #sync(key: string): Promise<void> {
    const service = this.#services.get(placeOfText(key));
    const slices = this.#slicesOf(key);
    await this.#mirror(
      key,
      slices.filter((slice) => isManagedBy(slice, MIRRORING_CONTROLLER)),
    );
    if (service === undefined) return;
    // delete the old slices only after writing the new ones, so that no endpoint is missing in between
    await this.#delete(slices.filter((slice) => isFormerSlice(slice, service)));
  }

  async #mirror(key: string, slices: EndpointSlice[]): Promise<void> {
    const service = this.#services.get(placeOfText(key));
    const endpoints = this.#endpoints.get(placeOfText(key));
    const hasMirror = endpoints !== undefined && isMirrored(endpoints) && service !== undefined;
    if (!hasMirror || service.spec.selector !== undefined) return await this.#delete(slices);
    const decision = decideMirrored(endpoints, slices);
    this.#report(endpoints, decision);
    const isDeleting = endpoints.metadata.deletionTimestamp !== undefined;
    await this.#writer.write(isDeleting ? { ...decision, create: [] } : decision, 'as they are');
  }

  async #delete(slices: EndpointSlice[]): Promise<void> {
    await this.#writer.write({ ...noChanges(), delete: slices }, 'as they are');
  }

  #slicesOf(key: string): EndpointSlice[] {
    const { namespace, name } = placeOfText(key);
    return this.#slices
      .list(namespace)
      .filter(
        ({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === name && metadata.deletionTimestamp === undefined,
      );
  }

  #report(endpoints: Endpoints, { invalid, surplus }: MirrorDecision): void {
    const warn = (reason: string, message: string) =>
      this.#events.event(subjectOf(ENDPOINTS, endpoints), 'Warning', reason, message);
    if (invalid > 0)
      warn('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`);
    const bound = `A max of ${MAX_MIRRORED} addresses can be mirrored to EndpointSlices per Endpoints subset.`;
    if (surplus > 0) warn('TooManyAddressesToMirror', `${bound} ${surplus + invalid} addresses were skipped`);
  }
}

function isManagedBy({ metadata }: EndpointSlice, manager: string): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === manager;
}

/** Whether the slice dates from when the Service had a selector. Upstream never removes such slices, although nothing updates them. */
function isFormerSlice(slice: EndpointSlice, service: Service): boolean {
  return isManagedBy(slice, SLICE_CONTROLLER) && isOwnedBy(slice, service) && !hasComputedEndpoints(service);
}

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
import { MANAGED_BY_LABEL, noChanges, SERVICE_NAME_LABEL } from './slice-changes.ts';
import { SliceWriter } from './slice-writer.ts';

/** Mirrors Endpoints objects of Services without selectors to EndpointSlices. */
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
    this.#slices.onChange(({ object: { metadata } }) => {
      const name = metadata.labels?.[SERVICE_NAME_LABEL];
      if (name !== undefined && isMirror(metadata)) this.#queue.add(placeText({ namespace: metadata.namespace, name }));
    });
    await this.#queue.ended;
  }

  async #sync(key: string): Promise<void> {
    const service = this.#services.get(placeOfText(key));
    const endpoints = this.#endpoints.get(placeOfText(key));
    const slices = this.#slicesOf(key);
    const hasMirror = endpoints !== undefined && isMirrored(endpoints) && service !== undefined;
    if (!hasMirror || service.spec.selector !== undefined)
      return await this.#writer.write({ ...noChanges(), delete: slices }, 'as they are');
    const decision = decideMirrored(endpoints, slices);
    this.#report(endpoints, decision);
    const isDeleting = endpoints.metadata.deletionTimestamp !== undefined;
    await this.#writer.write(isDeleting ? { ...decision, create: [] } : decision, 'as they are');
  }

  #slicesOf(key: string): EndpointSlice[] {
    const { namespace, name } = placeOfText(key);
    return this.#slices
      .list(namespace)
      .filter(
        ({ metadata }) =>
          metadata.labels?.[SERVICE_NAME_LABEL] === name &&
          isMirror(metadata) &&
          metadata.deletionTimestamp === undefined,
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

function isMirror({ labels }: EndpointSlice['metadata']): boolean {
  return labels?.[MANAGED_BY_LABEL] === MIRRORING_CONTROLLER;
}

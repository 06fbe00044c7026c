import type { EventRecorder, Pod } from '@podwright/kube-api';
import { apiMessage, isApiStatus, PODS, SERVICES } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { ENDPOINTS, type Endpoints } from '../objects/endpoints.ts';
import type { Service } from '../objects/service.ts';
import { isNamespaceTerminating } from '../pods/pod-writer.ts';
import { decideEndpoints, type NewEndpoints } from './decide-endpoints.ts';
import { isLeaderElection } from './decide-mirrored.ts';
import { hasComputedEndpoints } from './service-facts.ts';
import { TriggerTimes } from './trigger-times.ts';
import { selects, wakeServices } from './wake-services.ts';

/** Maintains the Endpoints objects of Services with selectors. */
export const endpointsController: Controller = (parts) => new EndpointsController(parts).run();

class EndpointsController {
  readonly #parts: ControllerParts;
  readonly #services: ObjectCache<Service>;
  readonly #endpoints: ObjectCache<Endpoints>;
  readonly #pods: ObjectCache<Pod>;
  readonly #events: EventRecorder;
  readonly #times = new TriggerTimes();
  readonly #queue: WorkQueue;

  constructor(parts: ControllerParts) {
    const { objects, events, logger, signal } = parts;
    this.#parts = parts;
    this.#services = objects.of(SERVICES);
    this.#endpoints = objects.of(ENDPOINTS);
    this.#pods = objects.of(PODS);
    this.#events = events('endpoint-controller');
    const failure = 'failed to sync the Endpoints of a Service';
    this.#queue = new WorkQueue({ sync: (key) => this.#sync(key), failure, logger, signal });
  }

  async run(): Promise<void> {
    if (!(await untilSynced(this.#services, this.#endpoints, this.#pods))) return;
    const wake = (key: string) => this.#queue.add(key);
    wakeServices({ services: this.#services, pods: this.#pods, wake });
    // sync all Endpoints objects at startup, to remove those whose Services were deleted while no controller was running
    for (const { metadata } of this.#endpoints.list()) if (!isLeaderElection(metadata)) wake(placeText(metadata));
    this.#endpoints.onChange(({ type, object }) => {
      if (type === 'DELETED') wake(placeText(object.metadata));
    });
    await this.#queue.ended;
  }

  async #sync(key: string): Promise<void> {
    const service = this.#services.get(placeOfText(key));
    const existing = this.#endpoints.get(placeOfText(key));
    if (service === undefined) {
      this.#times.forget(key);
      if (existing !== undefined) await this.#remove(existing);
      return;
    }
    if (!hasComputedEndpoints(service)) return;
    const { namespace } = service.metadata;
    const pods = this.#pods.list(namespace).filter(({ metadata }) => selects(service.spec.selector, metadata.labels));
    const triggerMs = this.#times.next(key, service, pods);
    const wanted = decideEndpoints({ service, pods, existing, triggerMs });
    if (wanted !== undefined) await this.#write(wanted, existing);
  }

  async #write(wanted: NewEndpoints, existing: Endpoints | undefined): Promise<void> {
    const { client, signal } = this.#parts;
    try {
      const call = existing === undefined ? client.create<Endpoints> : client.update<Endpoints>;
      this.#endpoints.written(await call.call(client, ENDPOINTS, wanted, { signal }));
    } catch (error) {
      if (isNamespaceTerminating(error)) return; // nothing can be created there any longer
      if (!signal.aborted) this.#failed(wanted, existing, error);
      throw error;
    }
  }

  #failed({ metadata }: NewEndpoints, existing: Endpoints | undefined, error: unknown): void {
    const { namespace, name } = metadata;
    const uid = existing?.metadata.uid ?? '';
    const [reason, what] =
      existing === undefined
        ? ['FailedToCreateEndpoint', 'create endpoint for service']
        : ['FailedToUpdateEndpoint', 'update endpoint'];
    const message = `Failed to ${what} ${namespace}/${name}: ${apiMessage(error)}`;
    this.#events.event({ apiVersion: 'v1', kind: 'Endpoints', namespace, name, uid }, 'Warning', reason, message);
  }

  async #remove({ metadata }: Endpoints): Promise<void> {
    const { client, signal } = this.#parts;
    const { namespace, name, uid } = metadata;
    try {
      await client.delete(ENDPOINTS, { namespace, name }, { preconditions: { uid } }, { signal });
    } catch (error) {
      if (isApiStatus(error, 404) || isApiStatus(error, 409)) return; // it was removed, or replaced
      throw error;
    }
    this.#endpoints.deleting({ namespace, name }, uid);
  }
}

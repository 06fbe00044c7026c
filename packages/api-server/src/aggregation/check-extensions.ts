/** Checks registered extension API servers and reads their documents, as long as any are registered. */
import { type StoredObject, type StoreEvent, timestamp } from '@podwright/api-machinery';
import { errorMessage, pause } from '@podwright/base';
import { type ApiObject, objectsAt, textAt, withValue } from '@podwright/kube-kinds';
import type { ControllerParts } from '../controllers/controller-parts.ts';
import { followResource } from '../controllers/follow-resource.ts';
import { ignoreOvertaken } from '../controllers/ignore-overtaken.ts';
import { type Availability, availabilityOf } from './availability.ts';
import type { AvailabilityMetrics } from './availability-metrics.ts';
import { type ExtensionParts, extensionBackend } from './extension-backend.ts';
import type { ExtensionDocuments } from './extension-documents.ts';
import { readDocuments } from './read-documents.ts';
import { API_SERVICES, isAvailable, type Registration } from './registration.ts';
import type { Registrations } from './registrations.ts';

export type CheckParts = ControllerParts & {
  extension: ExtensionParts;
  registrations: Registrations;
  documents: ExtensionDocuments;
  metrics: AvailabilityMetrics;
  now: () => number;
};

/** Interval between checks of an available extension API server, as in upstream. */
const RECHECK_MS = 30_000;
const FIRST_RETRY_MS = 5;
const REREAD_MS = 60_000;

const MANAGER = 'kube-apiserver';
const SERVICE_LABEL = 'kubernetes.io/service-name';

type Checked = { registration: Registration; wake: () => void; end: AbortController };

/** Checks the registered servers until the signal aborts. */
export async function checkExtensions(parts: CheckParts): Promise<void> {
  const { registrations, signal } = parts;
  const checked = new Map<string, Checked>();
  const running = new Set<Promise<void>>();
  const begin = (registration: Registration) => {
    const check = new ExtensionCheck(parts, registration);
    const end = new AbortController();
    checked.set(registration.name, { registration, wake: () => check.wake(), end });
    const done = check.run(AbortSignal.any([signal, end.signal])).finally(() => running.delete(done));
    running.add(done);
  };
  const update = () => {
    const all = new Map(registrations.all.map((one) => [one.name, one]));
    for (const [name, { registration, end }] of checked) {
      if (JSON.stringify(all.get(name)) === JSON.stringify(registration)) continue;
      end.abort();
      checked.delete(name);
      if (!all.has(name)) parts.metrics.forget(name);
    }
    for (const one of all.values()) if (!checked.has(one.name)) begin(one);
  };
  const follow = (resource: string, serviceOf: (object: StoredObject) => string | undefined) => {
    const changed = ({ object }: StoreEvent) => {
      const [namespace] = object.key.split('/');
      for (const { registration: at, wake } of checked.values())
        if (at.service.namespace === namespace && at.service.name === serviceOf(object)) wake();
    };
    return followResource(resource, { listed: () => undefined, changed }, parts);
  };
  registrations.onChange(() => signal.aborted || update());
  update();
  await Promise.all([
    follow('services', ({ key }) => key.split('/')[1]),
    follow('endpointslices.discovery.k8s.io', (slice) => slice.decode().metadata.labels?.[SERVICE_LABEL]),
  ]);
  await Promise.all(running);
}

/** Checks one extension API server periodically. */
class ExtensionCheck {
  readonly #parts: CheckParts;
  readonly #registration: Registration;
  #wake = Promise.withResolvers<void>();
  #readAtMs = 0;

  constructor(parts: CheckParts, registration: Registration) {
    this.#parts = parts;
    this.#registration = registration;
  }

  /** Makes the next check run immediately instead of after its interval. */
  wake(): void {
    this.#wake.resolve();
  }

  /** Checks the extension API server until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers<void>();
      const passed = await this.#check(signal).catch((error: unknown) => this.#failed(error, signal));
      failures = passed ? 0 : failures + 1;
      const waitMs = passed ? RECHECK_MS : Math.min(FIRST_RETRY_MS * 2 ** failures, RECHECK_MS);
      await this.#pause(waitMs, signal);
    }
  }

  async #pause(waitMs: number, signal: AbortSignal): Promise<void> {
    const end = new AbortController();
    await Promise.race([pause(waitMs, AbortSignal.any([signal, end.signal])), this.#wake.promise]);
    end.abort();
  }

  #failed(error: unknown, signal: AbortSignal): false {
    const { name } = this.#registration;
    if (!signal.aborted)
      this.#parts.logger.warn({ apiService: name, error: errorMessage(error) }, 'check an APIService failed');
    return false;
  }

  async #check(signal: AbortSignal): Promise<boolean> {
    const { extension, documents } = this.#parts;
    const { name } = this.#registration;
    const availability = await availabilityOf(this.#registration, extension, signal);
    if (signal.aborted) return false;
    await this.#setCondition(availability);
    if (availability.status === 'True') return this.#read(signal);
    this.#readAtMs = 0;
    documents.set(name, undefined);
    return false;
  }

  /** Reads the extension API server's discovery and OpenAPI documents again if they are stale. Returns false if that fails. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const { extension, documents } = this.#parts;
    if (performance.now() - this.#readAtMs < REREAD_MS && this.#readAtMs > 0) return true;
    const backend = await extensionBackend(this.#registration, extension);
    const reading = readDocuments(this.#registration, backend, signal);
    const read = await reading.catch((error: unknown) => void this.#failed(error, signal));
    if (signal.aborted) return false;
    documents.set(this.#registration.name, read);
    this.#readAtMs = read ? performance.now() : 0;
    return read !== undefined;
  }

  async #setCondition(availability: Availability): Promise<void> {
    const { store, registryOf, context, now, metrics } = this.#parts;
    const { name } = this.#registration;
    const stored = store.get({ resource: API_SERVICES, namespace: '', name })?.decode();
    metrics.set(name, availability.status === 'True');
    if (stored === undefined || withAvailability(stored, availability, timestamp(now())) === stored) return;
    if (isAvailable(stored) && availability.status !== 'True') metrics.becameUnavailable(name, availability.reason);
    const change = (object: ApiObject) => withAvailability(object, availability, timestamp(now()));
    const written = { ...context('status'), fieldManager: MANAGER };
    await registryOf(API_SERVICES).change({ namespace: '', name }, change, written).catch(ignoreOvertaken);
  }
}

const conditionOf = (object: ApiObject) =>
  objectsAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Available');

/**
 * Returns the APIService with its `Available` condition set, or the same object if nothing changes. `lastTransitionTime` only changes along
 * with the condition's status.
 */
export function withAvailability(object: ApiObject, availability: Availability, now: string): ApiObject {
  const old = conditionOf(object);
  const { status, reason, message } = availability;
  if (old?.status === status && old.reason === reason && old.message === message) return object;
  const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
  const condition = { type: 'Available', status, lastTransitionTime, reason, message };
  const all = objectsAt(object, 'status', 'conditions');
  const conditions = old === undefined ? [...all, condition] : all.map((one) => (one === old ? condition : one));
  return withValue(object, ['status', 'conditions'], conditions);
}

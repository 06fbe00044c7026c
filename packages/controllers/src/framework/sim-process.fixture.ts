/** Runs a controller against a simulated server, with delayed watches, lost responses, conflicts and restarts. */
import { silentLogger } from '@podwright/base';
import type { Resource } from '@podwright/kube-api';
import { refusal } from '@podwright/kube-client/testing';
import type { ControllerParts } from './controller.ts';
import { placeText } from './object-place.ts';
import type { SimObject, SimServer } from './sim-server.fixture.ts';

/** The sync function that a controller passes to its `WorkQueue`: reconciles the object with this key. */
export type Sync = (key: string) => Promise<void>;
/**
 * Starts the controller in a new process and returns its `Sync` function. `again` requests a sync of the object with this key after a
 * delay.
 */
export type StartSync = (parts: ControllerParts, again: (key: string, delayMs: number) => void) => Sync;

export type SimEvent = { reason: string; message: string; type: string; name: string };

/**
 * How a write to the simulated server fails. `lost`: the write takes effect, but the caller gets no response. `killed`: like `lost`, and
 * the controller's process is killed. The response to a create is never lost: no controller, not even upstream's, could know that the
 * object exists, so it would create another one.
 */
export type Fault = 'none' | 'refused' | 'conflict' | 'lost' | 'killed';

export class SimProcess {
  readonly events: SimEvent[] = [];
  readonly server: SimServer;
  nextFault: () => Fault = () => 'none';
  readonly #start: StartSync;
  readonly #resource: Resource;
  readonly #again = new Map<string, number>();
  #deliver: (atMost?: number) => boolean = () => false;
  #sync: Sync = () => Promise.resolve();
  #isKilled = false;

  constructor(server: SimServer, resource: Resource, start: StartSync) {
    this.server = server;
    this.#resource = resource;
    this.#start = start;
    server.beforeWrite = ({ verb }) => this.#before(verb);
    server.afterWrite = () => this.#after();
    this.restart();
  }

  restart(): void {
    const { client, objects, deliver } = this.server.connect();
    const event: ReturnType<ControllerParts['events']>['event'] = (...[{ name }, type, reason, message]) =>
      void this.events.push({ name, type, reason, message });
    const parts: ControllerParts = {
      client,
      objects,
      events: () => ({ event }),
      logger: silentLogger,
      now: () => this.server.nowMs,
      signal: new AbortController().signal,
    };
    this.#isKilled = false;
    this.#deliver = deliver;
    this.#again.clear();
    this.#sync = this.#start(parts, (key, delayMs) => {
      const atMs = this.server.nowMs + Math.max(1, delayMs);
      this.#again.set(key, Math.min(atMs, this.#again.get(key) ?? atMs));
    });
  }

  /** Delivers up to `atMost` pending changes of each resource to the controller's caches. */
  deliver(atMost: number): void {
    this.#deliver(atMost);
  }

  /**
   * Syncs the object with this key, ignoring errors as a retrying work queue does, and restarts the controller's process if it was killed.
   * Returns whether the sync succeeded.
   */
  async sync(key: string): Promise<boolean> {
    const wasOk = await this.#sync(key).then(
      () => true,
      (error: unknown) => {
        if (error instanceof TypeError || error instanceof RangeError) throw error;
        return false;
      },
    );
    if (this.#isKilled) this.restart();
    return wasOk;
  }

  /**
   * Syncs all objects without faults until nothing changes. `actors` runs the rest of the simulation, such as the kubelet, and returns
   * whether it changed anything.
   */
  async settle(actors: () => boolean): Promise<void> {
    this.nextFault = () => 'none';
    for (let round = 0; round < 2000; round++) {
      const before = this.server.writes;
      const hasChanges = this.#deliver();
      for (const { metadata } of this.server.list<SimObject>(this.#resource))
        await this.sync(placeText({ namespace: metadata.namespace, name: metadata.name! }));
      if (hasChanges || actors() || this.server.writes > before) continue;
      const next = Math.min(...this.#again.values());
      if (!Number.isFinite(next)) return;
      this.#again.clear();
      this.server.nowMs = Math.max(next, this.server.nowMs + 1);
    }
    throw new Error('the simulation does not come to rest');
  }

  #fault: Fault = 'none';

  #before(verb: string): void {
    const fault = this.#isKilled ? 'refused' : this.nextFault();
    this.#fault = fault === 'lost' && verb === 'create' ? 'killed' : fault;
    if (this.#fault === 'refused') throw refusal(500, 'InternalError', 'injected');
    if (this.#fault === 'conflict') throw refusal(409, 'Conflict', 'injected');
  }

  #after(): void {
    const fault = this.#fault;
    this.#fault = 'none';
    if (fault === 'killed') this.#isKilled = true;
    if (fault === 'lost' || fault === 'killed') throw refusal(504, 'Timeout', 'the answer is lost');
  }
}

/** Maintains the APIServices for the group versions that this server serves itself. */
import { objectAt } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { isOvertaken } from './ignore-overtaken.ts';
import { type LocalService, localServices, serviceAction } from './local-services.ts';
import type { Location } from './location.ts';
import { WorkQueue } from './work-queue.ts';

const API_SERVICES = 'apiservices.apiregistration.k8s.io';
const MANAGER = 'kube-apiserver';

export type LocalServicesParts = ControllerParts & {
  builtIn: readonly Resource[];
  /** Computed resources, such as `pods.metrics.k8s.io`, that an extension API server may serve instead of this server. */
  replaceable: readonly Resource[];
  custom: { readonly resources: readonly Resource[]; onChange: (listener: () => void) => void };
};

/** Maintains the APIServices until the signal aborts. */
export async function keepLocalServices(parts: LocalServicesParts): Promise<void> {
  const keeper = new LocalServiceKeeper(parts);
  await keeper.run();
}

class LocalServiceKeeper {
  readonly #parts: LocalServicesParts;
  readonly #queue: WorkQueue;
  #desired: ReadonlyMap<string, LocalService>;
  #atStart: ReadonlySet<string> | undefined;
  readonly #synced = new Set<string>();

  constructor(parts: LocalServicesParts) {
    this.#parts = parts;
    const handle = ({ name }: Location) => this.#sync(name);
    this.#queue = new WorkQueue({ ...parts, handle, failure: 'keep a local APIService failed' });
    this.#desired = this.#read();
    parts.custom.onChange(() => {
      const before = this.#desired;
      this.#desired = this.#read();
      this.#add(before.keys());
      this.#add(this.#desired.keys());
    });
  }

  async run(): Promise<void> {
    const follower = {
      listed: (objects: readonly { key: string }[]) => {
        const names = objects.map(({ key }) => key.slice(1));
        this.#atStart ??= new Set(names);
        this.#add([...names, ...this.#desired.keys()]);
      },
      changed: ({ object }: { object: { key: string } }) => this.#changed(object.key.slice(1)),
    };
    await Promise.all([followResource(API_SERVICES, follower, this.#parts), this.#queue.run()]);
  }

  #read(): ReadonlyMap<string, LocalService> {
    const { builtIn, custom, replaceable } = this.#parts;
    return localServices({ builtIn, custom: custom.resources, replaceable });
  }

  #add(names: Iterable<string>): void {
    for (const name of names) this.#queue.add({ resource: API_SERVICES, namespace: '', name });
  }

  /**
   * Syncs a changed APIService. If its group is replaceable, syncs all versions of the group, because the change can take over or release
   * all of them.
   */
  #changed(name: string): void {
    const group = name.slice(name.indexOf('.') + 1);
    const { replaceable } = this.#parts;
    this.#add([name, ...replaceable.filter((one) => one.group === group).map((one) => `${one.version}.${group}`)]);
  }

  async #sync(name: string): Promise<void> {
    const { registryOf, context, store } = this.#parts;
    const desired = this.#desired.get(name);
    const current = store.get({ resource: API_SERVICES, namespace: '', name })?.decode();
    const isTakenOver = desired?.management === 'vacant' && this.#isTakenOver(desired);
    const [wasAtStart, isSynced] = [this.#atStart?.has(name) ?? false, this.#synced.has(name)];
    const action = serviceAction({ desired, current, wasAtStart, isSynced, isTakenOver });
    const registry = registryOf(API_SERVICES);
    const written = { ...context(), fieldManager: MANAGER };
    const place = { namespace: '', name };
    try {
      if (action === 'create') await registry.create('', desired!.object, written);
      if (action === 'update') await registry.update(place, { ...current!, spec: desired!.object.spec }, written);
      if (action === 'delete')
        await registry.delete(place, { preconditions: { uid: current!.metadata.uid ?? '' } }, written);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      return; // its change is handled next
    }
    if (isTakenOver) this.#synced.delete(name);
    else this.#synced.add(name);
  }

  #isTakenOver({ object }: LocalService): boolean {
    const group = objectAt(object, 'spec')?.group;
    return this.#parts.store
      .list(API_SERVICES)
      .objects.map((one) => objectAt(one.decode(), 'spec'))
      .some((spec) => spec?.group === group && spec?.service !== undefined);
  }
}

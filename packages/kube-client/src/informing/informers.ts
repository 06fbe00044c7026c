import type { KubeObject } from '@podwright/kube-api';
import type { Informer, InformerOptions } from '../informer.ts';
import type { KubeClient } from '../kube-client.ts';
import { type InformerTiming, startInformer } from './start-informer.ts';

/** Tracks a client's running informers. */
export class Informers {
  readonly #client: KubeClient;
  readonly #timing: InformerTiming | undefined;
  readonly #running = new Set<Informer<KubeObject>>();

  constructor(client: KubeClient, timing?: InformerTiming) {
    this.#client = client;
    this.#timing = timing;
  }

  start<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
    const onStop = () => this.#running.delete(informer);
    const informer: Informer<T> = startInformer<T>(this.#client, { ...options, onStop }, this.#timing);
    this.#running.add(informer);
    return informer;
  }

  /** Makes all running informers relist their objects. */
  reread(): void {
    for (const informer of this.#running) informer.reread();
  }
}

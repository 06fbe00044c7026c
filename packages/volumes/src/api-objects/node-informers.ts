import type { KubeObject, RuntimeClass, Service } from '@podwright/kube-api';
import { CSI_DRIVERS, type Informer, RUNTIME_CLASSES, SERVICES } from '@podwright/kube-client';
import type { StartInformer } from './object-feeds.ts';

/** Objects that every node watches all the time, besides its own Node and its pods. */
export type NodeInformers = {
  /** Services with a cluster IP. */
  services: Informer<Service>;
  runtimeClasses: Informer<RuntimeClass>;
  csiDrivers: Informer<KubeObject>;
  stop(): void;
};

/** Starts the informers, with upstream's selectors. */
export function startNodeInformers(startInformer: StartInformer): NodeInformers {
  const informers = {
    services: startInformer<Service>({ resource: SERVICES, fieldSelector: 'spec.clusterIP!=None' }),
    csiDrivers: startInformer<KubeObject>({ resource: CSI_DRIVERS }),
    runtimeClasses: startInformer<RuntimeClass>({ resource: RUNTIME_CLASSES }),
  };
  const all: Informer<KubeObject>[] = Object.values(informers);
  for (const { synced } of all) synced.catch(() => undefined); // stopped before the first list
  return { ...informers, stop: () => all.forEach((informer) => void informer.stop()) };
}

import { CSI_DRIVERS, type Informer, type KubeObject, NODES, RUNTIME_CLASSES, SERVICES } from '@podwright/kube-client';
import type { Service } from '../api/service.ts';
import type { RuntimeClass } from '../api/types.ts';
import type { StartInformer } from './object-feeds.ts';

/** What a node follows all the time. */
export type NodeInformers = {
  /** Those with an address of their own. */
  services: Informer<Service>;
  /** The node's own object alone. */
  node: Informer<KubeObject>;
  runtimeClasses: Informer<RuntimeClass>;
  csiDrivers: Informer<KubeObject>;
  stop(): void;
};

/** Begins to follow what every kubelet follows, with upstream's selectors. */
export function startNodeInformers(startInformer: StartInformer, nodeName: string): NodeInformers {
  const informers = {
    services: startInformer<Service>({ resource: SERVICES, fieldSelector: 'spec.clusterIP!=None' }),
    node: startInformer<KubeObject>({ resource: NODES, fieldSelector: `metadata.name=${nodeName}` }),
    csiDrivers: startInformer<KubeObject>({ resource: CSI_DRIVERS }),
    runtimeClasses: startInformer<RuntimeClass>({ resource: RUNTIME_CLASSES }),
  };
  const all: Informer<KubeObject>[] = Object.values(informers);
  for (const { synced } of all) synced.catch(() => undefined); // stopped before
  return { ...informers, stop: () => all.forEach((informer) => void informer.stop()) };
}

import type { KubeObject } from '@podwright/kube-api';
import { AGE, boolean, type Column, integer, type KindTables, kindTable, NAME, NONE, text, UNSET } from './column.ts';

type CsiNode = KubeObject & { spec?: { drivers?: unknown[] } };

const CSI_NODE: Column<CsiNode>[] = [
  NAME,
  integer('Drivers', 'CSI drivers that are registered on the node', ({ spec }) => spec?.drivers?.length ?? 0),
  AGE,
];

type CsiDriver = KubeObject & {
  spec?: {
    attachRequired?: boolean;
    podInfoOnMount?: boolean;
    storageCapacity?: boolean;
    tokenRequests?: { audience?: string }[];
    requiresRepublish?: boolean;
    volumeLifecycleModes?: string[];
  };
};

const CSI_DRIVER: Column<CsiDriver>[] = [
  NAME,
  boolean('AttachRequired', 'Whether volumes are attached to nodes', ({ spec }) => spec?.attachRequired ?? true),
  boolean(
    'PodInfoOnMount',
    'Whether the driver receives facts of the pod',
    ({ spec }) => spec?.podInfoOnMount ?? false,
  ),
  boolean('StorageCapacity', 'Whether it publishes its free capacity', ({ spec }) => spec?.storageCapacity ?? false),
  text('TokenRequests', 'Audiences of the tokens that it receives', ({ spec }) =>
    spec?.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience ?? '').join(',') : UNSET,
  ),
  boolean(
    'RequiresRepublish',
    'Whether volumes are published again and again',
    ({ spec }) => spec?.requiresRepublish ?? false,
  ),
  text('Modes', 'Persistent or ephemeral volumes', ({ spec }) => (spec?.volumeLifecycleModes ?? []).join(',') || NONE),
  AGE,
];

/** CSIStorageCapacities use the default columns, as in upstream's API server. */
export const CSI: KindTables = {
  'CSINode.storage.k8s.io': kindTable(CSI_NODE),
  'CSIDriver.storage.k8s.io': kindTable(CSI_DRIVER),
};

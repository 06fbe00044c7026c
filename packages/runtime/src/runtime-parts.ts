import type { ImageService } from '@podwright/images';
import type { MetadataDatabase } from '@podwright/metadata';
import type { PortDialer } from '@podwright/system';
import type { ContainerFiles } from './containers/container-files.ts';
import type { ContainerSpecs } from './containers/container-specs.ts';
import type { RuntimeFacts } from './cri/services/services.ts';
import type { Network } from './network/network.ts';
import type { PodTables } from './records/pod-tables.ts';
import type { SandboxControllers } from './sandbox/sandbox-controllers.ts';
import type { SandboxNamespaces } from './sandbox/sandbox-namespaces.ts';
import type { Statistics } from './statistics/statistics.ts';
import type { TaskRuntime } from './tasks/task-runtime.ts';

/** The records that parts may read. */
export type RuntimeRecords = PodTables & { database: MetadataDatabase };

/** What a runtime is put together from; any of them may be another implementation of its contract. */
export type RuntimeParts = {
  images: ImageService;
  files: ContainerFiles;
  specs: ContainerSpecs;
  tasks: TaskRuntime;
  network: Network;
  controllers: SandboxControllers;
  namespaces: SandboxNamespaces;
  statistics: Statistics;
  dial: PortDialer;
  facts: RuntimeFacts;
  /** Stops what the parts do in this process; what they made on the host stays. */
  close(): Promise<void>;
  /** Removes what the parts made on the host for themselves; there are no pods any more. */
  removeHostState(): Promise<void>;
};

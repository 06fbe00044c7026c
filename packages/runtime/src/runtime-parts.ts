import type { TraceWork } from '@podwright/base';
import type { ImageService } from '@podwright/images';
import type { MetadataDatabase } from '@podwright/metadata';
import type { PortDialer } from '@podwright/system';
import type { ContainerFiles } from './containers/container-files.ts';
import type { ContainerSpecs } from './containers/container-specs.ts';
import type { RuntimeFacts } from './cri/services/services.ts';
import type { FastPaths } from './fast-paths.ts';
import type { Network } from './network/network.ts';
import type { NriPlugins } from './nri/nri-plugins.ts';
import type { PodTables } from './records/pod-tables.ts';
import type { SandboxControllers } from './sandbox/sandbox-controllers.ts';
import type { SandboxNamespaces } from './sandbox/sandbox-namespaces.ts';
import type { Statistics } from './statistics/statistics.ts';
import type { TaskRuntime } from './tasks/task-runtime.ts';

/** The record tables and the metadata database, shared by the container runtime's components. */
export type RuntimeRecords = PodTables & { database: MetadataDatabase };

/** Records, tracing and fast paths, which are set up first and passed to the other components of the container runtime. */
export type GivenParts = { records: RuntimeRecords; trace: TraceWork; fastPaths: FastPaths };

/** The components of a container runtime. Each may be any implementation of its interface. */
export type RuntimeParts = {
  images: ImageService;
  files: ContainerFiles;
  specs: ContainerSpecs;
  tasks: TaskRuntime;
  network: Network;
  /** Starts the NRI plugins and accepts their connections; absent if NRI is disabled. */
  nriPlugins: NriPlugins | undefined;
  controllers: SandboxControllers;
  namespaces: SandboxNamespaces;
  statistics: Statistics;
  dial: PortDialer;
  facts: RuntimeFacts;
  /** Closes the components. Their state on the host remains. */
  close(): Promise<void>;
  /** Removes the components' state from the host (bridge, rules, mounts, cgroup). Must only be called when there are no pods. */
  removeHostState(): Promise<void>;
};

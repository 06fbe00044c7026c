import type { Logger } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import type { ImageService } from '@podwright/images';
import type { ContainerService } from '../../containers/container-service.ts';
import type { Network } from '../../network/network.ts';
import type { Readiness } from '../../readiness.ts';
import type { RecordClock } from '../../records/ids.ts';
import type { LifecycleEvents } from '../../records/lifecycle-events.ts';
import type { ReadySandboxes } from '../../sandbox/ready-sandboxes.ts';
import type { SandboxControllers } from '../../sandbox/sandbox-controllers.ts';
import type { SandboxService } from '../../sandbox/sandbox-service.ts';
import type { Statistics } from '../../statistics/statistics.ts';
import type { TaskRuntime } from '../../tasks/task-runtime.ts';
import type { StreamUrls } from './stream-urls.ts';

/** Facts about the host and the container runtime for Status and RuntimeConfig. */
export type RuntimeFacts = {
  version: string;
  cgroupDriver: CgroupDriver;
  /** Checks whether pods can currently run. */
  readiness: () => Promise<Readiness>;
  /** Additional fields for a verbose Status. Must be JSON-serializable. */
  info: Record<string, unknown>;
  recursiveReadOnlyHandlers: ReadonlySet<string>;
  userNamespaceHandlers: ReadonlySet<string>;
};

/** Dependencies of the CRI handlers. Each handler picks those it needs. */
export type CriServices = {
  sandboxes: SandboxService;
  ready: ReadySandboxes;
  containers: ContainerService;
  controllers: SandboxControllers;
  images: ImageService;
  network: Network;
  tasks: TaskRuntime;
  events: LifecycleEvents;
  statistics: Statistics;
  streaming: StreamUrls;
  clock: RecordClock;
  facts: RuntimeFacts;
  logger: Logger;
};

import type { CgroupDriver, Logger } from '@podwright/base';
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

/** What Status and RuntimeConfig tell about the host and this runtime. */
export type RuntimeFacts = {
  version: string;
  cgroupDriver: CgroupDriver;
  /** Whether pods can be run now. */
  readiness: () => Promise<Readiness>;
  /** What Status shows when it is asked for everything, ready for JSON. */
  info: Record<string, unknown>;
  /** Runtime handlers that can mount read-only recursively. */
  recursiveReadOnlyHandlers: ReadonlySet<string>;
  /** Runtime handlers whose pods can have users of their own. */
  userNamespaceHandlers: ReadonlySet<string>;
};

/** What the CRI verbs work with; each takes what it needs. */
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

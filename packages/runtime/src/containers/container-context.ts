import type { Failpoint, KeyedLock, Logger, SharedWork, TraceWork } from '@podwright/base';
import type { ImageService } from '@podwright/images';
import type { RecordTable } from '@podwright/metadata';
import type { NriHooks } from '../nri/nri-hooks.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import type { RecordClock } from '../records/ids.ts';
import type { LifecycleEvents } from '../records/lifecycle-events.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxControllers } from '../sandbox/sandbox-controllers.ts';
import type { TaskRuntime } from '../tasks/task-runtime.ts';
import type { ContainerFiles } from './container-files.ts';
import type { ContainerSpecs } from './container-specs.ts';
import type { ExitWatch } from './exit-watch.ts';

/** Dependencies of the container service. */
export type ContainerServiceDependencies = {
  table: RecordTable<ContainerRecord>;
  sandboxes: RecordTable<SandboxRecord>;
  controllers: SandboxControllers;
  images: ImageService;
  files: ContainerFiles;
  specs: ContainerSpecs;
  tasks: TaskRuntime;
  events: LifecycleEvents;
  nri: NriHooks;
  work: SharedWork;
  clock: RecordClock;
  failpoint: Failpoint;
  trace: TraceWork;
  logger: Logger;
};

/**
 * State shared by all container operations; each operation takes only the fields it needs. `changes` serializes the operations on a
 * container.
 */
export type ContainerContext = ContainerServiceDependencies & { exits: ExitWatch; changes: KeyedLock };

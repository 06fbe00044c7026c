import type { Logger } from '@podwright/base';
import type { EventRecorder } from '@podwright/kube-api';
import type { KubeClient } from '@podwright/kube-client';
import type { SharedObjects } from './shared-objects.ts';

/**
 * What every controller receives. A controller reads objects from `objects` only, and writes them with `client`. It passes the answers of its
 * own writes to the cache of the resource (`ObjectCache.written`), so that its next decision includes them.
 */
export type ControllerParts = {
  client: KubeClient;
  objects: SharedObjects;
  /** Returns a recorder whose events have the component as their source, such as `deployment-controller`. */
  events: (component: string) => EventRecorder;
  logger: Logger;
  /** Unix time in milliseconds. */
  now: () => number;
  signal: AbortSignal;
};

/** Runs a controller until the signal aborts. Rejects only because of a defect. */
export type Controller = (parts: ControllerParts) => Promise<void>;

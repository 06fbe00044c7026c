import type { Logger } from '@podwright/base';
import type { EventRecorder } from '@podwright/kube-api';
import type { KubeClient } from '@podwright/kube-client';
import type { SharedObjects } from './shared-objects.ts';

/**
 * What every controller receives. A controller reads objects only from `objects` and writes them with `client`. It adds the responses to
 * its own writes to the resource's cache (`ObjectCache.written`), so that its next decision takes them into account.
 */
export type ControllerParts = {
  client: KubeClient;
  objects: SharedObjects;
  /** Returns a recorder for events with this source component, such as `deployment-controller`. */
  events: (component: string) => EventRecorder;
  logger: Logger;
  /** Returns the current Unix time in milliseconds. */
  now: () => number;
  signal: AbortSignal;
};

/** Runs a controller until the signal aborts. Rejects only because of a bug. */
export type Controller = (parts: ControllerParts) => Promise<void>;

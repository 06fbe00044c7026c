import type { KubeObject, Resource } from '@podwright/kube-api';
import type { Selection } from './kube-client.ts';

/** A change to an object. For `DELETED`, `object` is its last known state. */
export type InformerChange<T extends KubeObject> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type InformerOptions<T extends KubeObject> = Selection & {
  resource: Resource;
  /** Called in the order of the server's events; must not throw. Objects missing after a relist are reported as DELETED. */
  onChange?: (change: InformerChange<T>) => void;
  /**
   * Called after changes have been reported (from lists, bookmarks and events), with the resource version up to which the cache is
   * complete.
   */
  onProgress?: (resourceVersion: string) => void;
  /** Range from which the timeout of each watch is chosen at random. Default: 300 to 600 seconds. */
  watchSeconds?: { least: number; most: number };
  onStop?: () => void;
};

/**
 * A cache of a resource's selected objects, kept up to date by a watch, which is restarted whenever it ends, with backoff after failures.
 */
export interface Informer<T extends KubeObject> {
  /** Resolves after the initial sync. Rejects if the informer is stopped first. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  get(place: { namespace?: string; name: string }): T | undefined;
  list(): T[];
  /** Returns the error of the last attempt, or `undefined` while a watch is open. */
  problem(): string | undefined;
  /**
   * Relists all objects, accepting older resource versions. Must be called if the server might have been restored to an earlier state,
   * because watches do not report that.
   */
  reread(): void;
  stop(): void;
}

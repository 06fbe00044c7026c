import type { KubeObject, Resource } from '@podwright/kube-api';
import type { Selection } from './kube-client.ts';

/** A change to an object. For `DELETED`, `object` is its last known state. */
export type InformerChange<T extends KubeObject> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type InformerOptions<T extends KubeObject> = Selection & {
  resource: Resource;
  /** Called in the order of the server's events; must not throw. Objects that are missing after a relist are reported as DELETED. */
  onChange?: (change: InformerChange<T>) => void;
  /**
   * Called after changes have been reported, with the resource version up to which the cache is complete. After a list, bookmarks and events.
   */
  onProgress?: (resourceVersion: string) => void;
  /** Each watch ends after a random time in this range and is then restarted. Default: 300 to 600 seconds. */
  watchSeconds?: { least: number; most: number };
  onStop?: () => void;
};

/**
 * A cache of a resource's selected objects, kept up to date by a watch. The watch is restarted whenever it ends, with a backoff after
 * failures.
 */
export interface Informer<T extends KubeObject> {
  /** Resolves once all objects have been read for the first time. Rejects if the informer is stopped before that. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  get(place: { namespace?: string; name: string }): T | undefined;
  list(): T[];
  /** Returns the error of the last attempt, or `undefined` while the watch is open. */
  problem(): string | undefined;
  /**
   * Relists all objects and accepts older resource versions. Must be called when the server may have been restored to an earlier state,
   * because watches do not report that.
   */
  reread(): void;
  stop(): void;
}

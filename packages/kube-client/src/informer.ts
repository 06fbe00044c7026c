import type { KubeObject, Resource } from '@podwright/kube-api';
import type { Selection } from './kube-client.ts';

/** A change of an object. `DELETED` carries its last state. */
export type InformerChange<T extends KubeObject> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type InformerOptions<T extends KubeObject> = Selection & {
  resource: Resource;
  /** Called in the order of the server's events; must not throw. Objects that are missing after a relist are reported as DELETED. */
  onChange?: (change: InformerChange<T>) => void;
  /** The watch ends after a random time in this range, and is restarted. 300 to 600 s by default. */
  watchSeconds?: { least: number; most: number };
  /** Called when the informer is stopped. */
  onStop?: () => void;
};

/**
 * Caches the selected objects of a resource by watching them. The watch is restarted whenever it ends, with a backoff after failures.
 */
export interface Informer<T extends KubeObject> {
  /** Resolves when all objects have been read once; rejects if the informer is stopped earlier. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  get(place: { namespace?: string; name: string }): T | undefined;
  list(): T[];
  /** Returns the error of the last attempt; undefined while the watch is open. */
  problem(): string | undefined;
  /**
   * Reads all objects again, and accepts older versions. Call it if the server may have been restored to an earlier state: watches do
   * not report that.
   */
  reread(): void;
  stop(): void;
}

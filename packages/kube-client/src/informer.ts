import type { KubeObject, Resource } from '@podwright/kube-api';
import type { Selection } from './kube-client.ts';

/** A change of an object; `DELETED` has its last state. */
export type InformerChange<T extends KubeObject> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type InformerOptions<T extends KubeObject> = Selection & {
  resource: Resource;
  /** Called in the order of the server's events; must not throw. Objects missing in a relist are reported as DELETED. */
  onChange?: (change: InformerChange<T>) => void;
  /** A watch is restarted after a random time in this range, in seconds. Default 300 to 600. */
  watchSeconds?: { least: number; most: number };
  /** Called when the informer is stopped. */
  onStop?: () => void;
};

/** A cache of the objects of a selection, updated by a watch. The watch is restarted whenever it ends, with a backoff after failures. */
export interface Informer<T extends KubeObject> {
  /** Resolves when the objects have been read for the first time; rejects if the informer is stopped before. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  get(place: { namespace?: string; name: string }): T | undefined;
  list(): T[];
  /** Error of the last attempt; undefined while the watch is open. */
  problem(): string | undefined;
  /** Reads all objects again, of any version. Needed when the server was restored to an earlier state, which a watch does not report. */
  reread(): void;
  stop(): void;
}

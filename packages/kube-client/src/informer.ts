import type { KubeObject, Resource } from '@podwright/kube-api';
import type { Selection } from './kube-client.ts';

/** What changed; `DELETED` has the object as it was last. */
export type InformerChange<T extends KubeObject> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type InformerOptions<T extends KubeObject> = Selection & {
  resource: Resource;
  /** Called in the order of the server's events; must not throw. What a relist shows as gone is told as DELETED. */
  onChange?: (change: InformerChange<T>) => void;
  /** A watch is begun anew after a random time between these, in seconds: 300 to 600 unless given. */
  watchSeconds?: { least: number; most: number };
  /** Called when it is stopped. */
  onStop?: () => void;
};

/** The objects of a selection, kept up by a watch that is begun anew whenever it ends, with growing pauses while it fails. */
export interface Informer<T extends KubeObject> {
  /** Resolves when the objects have been read for the first time; rejects when the informer is stopped before. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  get(place: { namespace?: string; name: string }): T | undefined;
  list(): T[];
  /** Why the last try failed; undefined while the watch is up. */
  problem(): string | undefined;
  /** Reads all objects anew, of whatever version: the server has gone back to an earlier state, of which a watch tells nothing. */
  reread(): void;
  stop(): void;
}

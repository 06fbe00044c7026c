import { KeyedLock } from '@podwright/base';
import type { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import type { DockershimServices } from '../services.ts';

/** Dependencies and shared in-memory state of the CRI calls for sandboxes. */
export type SandboxDependencies = {
  services: DockershimServices;
  checkpoints: CheckpointStore;
  /** Pulls or builds a sandbox image if it is missing. */
  ensureImage: (reference: string, signal: AbortSignal) => Promise<void>;
  /** Removes a container in a sandbox, and the link to its log. */
  removeContainer: (id: string, signal: AbortSignal) => Promise<void>;
  /** Serializes runs of one sandbox name: a retry waits until the earlier run is rolled back. */
  names: KeyedLock;
  /** Sandboxes that are being created or could not be rolled back; not ready even if their container runs. */
  unfinished: Set<string>;
  /** Sandboxes whose network this process has removed already. */
  detached: Set<string>;
};

/** The given dependencies with empty in-memory state. */
export function sandboxDependencies(
  given: Omit<SandboxDependencies, 'names' | 'unfinished' | 'detached'>,
): SandboxDependencies {
  return { ...given, names: new KeyedLock(), unfinished: new Set(), detached: new Set() };
}

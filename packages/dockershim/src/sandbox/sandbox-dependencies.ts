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
  /** Serializes RunPodSandbox calls for the same sandbox name, so that a retry waits until the earlier call has been rolled back. */
  names: KeyedLock;
  /** Sandboxes that are being created or could not be rolled back. They are not ready, even if their container runs. */
  unfinished: Set<string>;
  /** Sandboxes whose network this process has already removed. */
  detached: Set<string>;
};

/** Adds empty in-memory state to the given dependencies. */
export function sandboxDependencies(
  given: Omit<SandboxDependencies, 'names' | 'unfinished' | 'detached'>,
): SandboxDependencies {
  return { ...given, names: new KeyedLock(), unfinished: new Set(), detached: new Set() };
}

import { KeyedLock } from '@podwright/base';
import type { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import type { DockershimServices } from '../services.ts';

/** Dependencies and shared in-memory state of the sandbox-related CRI calls. */
export type SandboxDependencies = {
  services: DockershimServices;
  checkpoints: CheckpointStore;
  /** Pulls or builds a sandbox image if it is missing. */
  ensureImage: (reference: string, signal: AbortSignal) => Promise<void>;
  /** Removes a container of a sandbox and its log symlink. */
  removeContainer: (id: string, signal: AbortSignal) => Promise<void>;
  /** Serializes RunPodSandbox calls with the same sandbox name, so that a retry waits for the rollback of the earlier call. */
  names: KeyedLock;
  /** Sandboxes that are being created or whose rollback failed. They do not count as ready, even if their container is running. */
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

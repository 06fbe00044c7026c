import { KeyedLock } from '@podwright/base';
import type { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import type { DockershimServices } from '../services.ts';

/** What the verbs of sandboxes work with, and what they know of each other. */
export type SandboxDependencies = {
  services: DockershimServices;
  checkpoints: CheckpointStore;
  /** Sees to it that an image is there. */
  ensureImage: (reference: string, signal: AbortSignal) => Promise<void>;
  /** Removes a container that is in a sandbox, with what else is kept of it. */
  removeContainer: (id: string, signal: AbortSignal) => Promise<void>;
  /** One run at a time of a sandbox's name: a retry waits until the one before is taken back. */
  names: KeyedLock;
  /** Sandboxes whose container may run but that are not finished, or could not be taken back: not ready. */
  unfinished: Set<string>;
  /** Sandboxes whose network was removed by this process: need not be again. */
  detached: Set<string>;
};

/** The given, and a fresh memory. */
export function sandboxDependencies(
  given: Omit<SandboxDependencies, 'names' | 'unfinished' | 'detached'>,
): SandboxDependencies {
  return { ...given, names: new KeyedLock(), unfinished: new Set(), detached: new Set() };
}

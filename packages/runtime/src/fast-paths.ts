import { fastOci, type OciFastPaths, plainOci } from './oci-runtime/oci-fast-paths.ts';
import type { RuntimeOptions } from './options.ts';

/** The parts of the container runtime that have both a fast and a plain implementation. */
export type FastPaths = {
  readonly oci: OciFastPaths;
  /** Maximum number of sandboxes prepared in advance. */
  readonly readySandboxes: number;
  /** Whether to make the kernel expedite RCU grace periods while pods start and stop. */
  readonly expediteRcu: boolean;
};

/** Selects the fast or plain implementations. If `fastPaths` is false, all of them are plain, regardless of the other options. */
export function fastPathsOf({
  fastPaths = true,
  readySandboxes = 0,
  expediteRcu = false,
}: Pick<RuntimeOptions, 'fastPaths' | 'readySandboxes' | 'expediteRcu'>): FastPaths {
  if (!fastPaths) return { oci: plainOci, readySandboxes: 0, expediteRcu: false };
  return { oci: fastOci, readySandboxes, expediteRcu };
}

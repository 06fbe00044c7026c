import { fastOci, type OciFastPaths, plainOci } from './oci-runtime/oci-fast-paths.ts';
import type { RuntimeOptions } from './options.ts';

/** The runtime's parts that have a fast and a plain implementation. */
export type FastPaths = {
  /** Shortcuts around the OCI runtime. */
  readonly oci: OciFastPaths;
  /** Maximum number of ready sandboxes. */
  readonly readySandboxes: number;
  /** Whether the kernel expedites RCU grace periods while pods start and stop. */
  readonly expediteRcu: boolean;
};

/** Chooses the implementations. If `fastPaths` is false, all are plain, whatever the other options request. */
export function fastPathsOf({
  fastPaths = true,
  readySandboxes = 0,
  expediteRcu = false,
}: Pick<RuntimeOptions, 'fastPaths' | 'readySandboxes' | 'expediteRcu'>): FastPaths {
  if (!fastPaths) return { oci: plainOci, readySandboxes: 0, expediteRcu: false };
  return { oci: fastOci, readySandboxes, expediteRcu };
}

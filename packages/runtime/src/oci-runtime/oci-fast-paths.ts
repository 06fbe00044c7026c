import type { CgroupHierarchy, ProgramStarter } from '@podwright/host';
import type { OciProgram } from './oci-program.ts';
import { SeccompFilters } from './seccomp-filters.ts';
import { startWithMigration } from './start-with-migration.ts';
import { expectedFormat, type StateFormat } from './state-files.ts';

/**
 * Shortcuts that bypass OCI runtimes. They depend on private files of runc and crun and on the kernel's cgroup implementation, so each of
 * them has a plain alternative that uses only the OCI runtime's commands. The two implementations are `fastOci` and `plainOci`.
 */
export type OciFastPaths = {
  /** Part of the trials' cache key, because their results depend on the shortcuts in use. */
  readonly name: string;
  /** Returns the expected format of an OCI runtime's state files, to be verified by a trial; `undefined` if state files are not used. */
  readonly expectedFormat: (found: { name: string; version: string }) => StateFormat | undefined;
  /**
   * Strips the OCI runtime of properties used only by fast paths, if these are disabled. The properties can come from a record written
   * before a restart, when fast paths were enabled.
   */
  readonly restrict: <P extends OciProgram>(program: P) => P;
  readonly seccompFilters: () => Pick<SeccompFilters, 'withCompiled' | 'remember'>;
  /** Wraps the starter of programs that move processes between cgroups, such as OCI runtimes. */
  readonly starter: (start: ProgramStarter, cgroups: CgroupHierarchy) => ProgramStarter;
};

export const fastOci: OciFastPaths = {
  name: 'fast',
  expectedFormat,
  restrict: (program) => program,
  seccompFilters: () => new SeccompFilters(),
  starter: startWithMigration,
};

export const plainOci: OciFastPaths = {
  name: 'plain',
  expectedFormat: () => undefined,
  restrict: (program) => {
    const plain = { ...program };
    delete plain.stateFormat;
    delete plain.covered;
    return plain;
  },
  seccompFilters: () => ({ withCompiled: () => undefined, remember: () => undefined }),
  starter: (start) => start,
};

import type { CgroupHierarchy, ProgramStarter } from '@podwright/host';
import type { OciProgram } from './oci-program.ts';
import { SeccompFilters } from './seccomp-filters.ts';
import { startWithMigration } from './start-with-migration.ts';
import { expectedFormat, type StateFormat } from './state-files.ts';

/**
 * Shortcuts around OCI runtimes. They depend on private files of runc and crun and on the kernel's cgroup implementation, so each has a
 * plain alternative that uses only the OCI runtime's commands. There are two sets: `fastOci` and `plainOci`.
 */
export type OciFastPaths = {
  /** Part of the cache key of trials, whose results depend on the shortcuts in use. */
  readonly name: string;
  /**
   * Returns the format that an OCI runtime's state files are expected to have, to be verified by a trial; `undefined` if state files are
   * not used.
   */
  readonly expectedFormat: (found: { name: string; version: string }) => StateFormat | undefined;
  /**
   * Returns the OCI runtime without properties that only fast paths use, if these are disabled. The properties may come from a record that an
   * earlier process wrote with fast paths enabled.
   */
  readonly restrict: <P extends OciProgram>(program: P) => P;
  readonly seccompFilters: () => Pick<SeccompFilters, 'withCompiled' | 'remember'>;
  /** Wraps the function that starts programs which move processes to other cgroups. */
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

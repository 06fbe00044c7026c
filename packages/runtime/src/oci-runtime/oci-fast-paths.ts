import type { CgroupHierarchy, ProgramStarter } from '@podwright/host';
import type { OciProgram } from './oci-program.ts';
import { SeccompFilters } from './seccomp-filters.ts';
import { startWithMigration } from './start-with-migration.ts';
import { expectedFormat, type StateFormat } from './state-files.ts';

/**
 * Shortcuts around OCI runtimes. They depend on private files of runc and crun and on the implementation of cgroups in the kernel, so
 * each has a plain alternative, which uses only the runtime's commands. Values: `fastOci` and `plainOci`.
 */
export type OciFastPaths = {
  /** Part of the cache key for trials, whose results depend on the shortcuts in use. */
  readonly name: string;
  /** The format that a runtime's state files should have, which its trial verifies; `undefined` if state files are not used. */
  readonly expectedFormat: (found: { name: string; version: string }) => StateFormat | undefined;
  /** Removes shortcuts that are not in use from a program, which may come from a record that a process with other settings wrote. */
  readonly restrict: <P extends OciProgram>(program: P) => P;
  readonly seccompFilters: () => Pick<SeccompFilters, 'withCompiled' | 'remember'>;
  /** Wraps the starter of programs that move processes to other cgroups. */
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

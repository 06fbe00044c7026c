import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, mendMode, PodwrightError, UNREADABLE_PROGRAM } from '@podwright/base';
import { grantTraversalAbove } from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { INFRA_DIRECTORIES, type InfraProgram } from './infra-spec.ts';

/** Where the root file systems of sandboxes' own processes come from. */
export interface InfraRoots {
  /** Makes the sandbox's, or finds the one that all have. Mounts are made in the sandbox's directory only, which is there. */
  prepare(sandbox: SandboxRecord, signal: AbortSignal): Promise<InfraProgram>;
  /** Removes what was made for the sandbox. No error if there is nothing. */
  remove(sandboxId: string): Promise<void>;
  /** Ids of sandboxes for which anything was made. */
  list(): Promise<string[]>;
}

/** The user that it runs as: an id that no user of a host can have, as it was -1 once. The host's `nobody` could signal and trace it. */
const NO_USER = 65_535;

/** Its name below the state directory. */
export const INIT_DIRECTORY = 'init';

export type HostInitRootOptions = {
  state: string;
  /** Finds a static init that waits and reaps with `-P`, such as `catatonit`; none if the host has none. */
  program: () => string | undefined;
};

/** One root file system for all, which holds nothing but the host's init program: `<state>/init`. */
export class HostInitRoot implements InfraRoots {
  readonly #root: string;
  readonly #program: () => string | undefined;

  private constructor({ state, program }: HostInitRootOptions) {
    this.#root = join(state, INIT_DIRECTORY);
    this.#program = program;
  }

  /** Mends the mode of an init of an earlier version, which everybody could read. */
  static open(options: HostInitRootOptions): HostInitRoot {
    const opened = new HostInitRoot(options);
    mendMode(join(opened.#root, 'init'), UNREADABLE_PROGRAM);
    return opened;
  }

  /** `failed_precondition` if the host has no init program. */
  async prepare({ config }: SandboxRecord): Promise<InfraProgram> {
    if (config.userNamespace !== undefined) grantTraversalAbove(dirname(this.#root), this.#root);
    await this.#fill();
    return { root: this.#root, args: ['/init', '-P'], env: [], cwd: '/', user: { uid: NO_USER, gid: NO_USER } };
  }

  async remove(): Promise<void> {}

  async list(): Promise<string[]> {
    return [];
  }

  async #fill(): Promise<void> {
    const program = join(this.#root, 'init');
    if (existsSync(program)) return;
    const source = this.#program();
    if (source === undefined) {
      throw new PodwrightError(
        'failed_precondition',
        "run a pod's own process: no init program is there; install the package catatonit",
      );
    }
    for (const name of INFRA_DIRECTORIES)
      mkdirSync(join(this.#root, name), { recursive: true, mode: CONTAINER_DIRECTORY });
    copyFileSync(source, `${program}.new`);
    chmodSync(`${program}.new`, UNREADABLE_PROGRAM);
    renameSync(`${program}.new`, program);
  }
}

import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, mendMode, PodwrightError, UNREADABLE_PROGRAM } from '@podwright/base';
import { grantTraversalAbove } from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { INFRA_DIRECTORIES, type InfraProgram } from './infra-spec.ts';

/** Provides the root file systems of infra processes. */
export interface InfraRoots {
  /**
   * Prepares the sandbox's root file system, or returns a shared one. May create mounts only in the sandbox's directory, which already
   * exists.
   */
  prepare(sandbox: SandboxRecord, signal: AbortSignal): Promise<InfraProgram>;
  /** Removes the sandbox's root file system, if it has one. */
  remove(sandboxId: string): Promise<void>;
  /** Returns the IDs of the sandboxes that have their own root file system. */
  list(): Promise<string[]>;
}

/**
 * UID and GID of the infra process. No host user has this ID, because it was (uid_t)-1 when IDs were 16 bits wide. If the infra process
 * used 65534, host processes with that ID could signal and trace it.
 */
const NO_USER = 65_535;

/** Name of the subdirectory of the state directory that contains the init program. */
export const INIT_DIRECTORY = 'init';

export type HostInitRootOptions = {
  state: string;
  /**
   * Finds a static init program such as `catatonit`, which only waits and reaps when run with `-P`. Returns undefined if the host has none.
   */
  program: () => string | undefined;
};

/** A root file system shared by all sandboxes, `<state>/init`, containing only the host's init program. */
export class HostInitRoot implements InfraRoots {
  readonly #root: string;
  readonly #program: () => string | undefined;

  private constructor({ state, program }: HostInitRootOptions) {
    this.#root = join(state, INIT_DIRECTORY);
    this.#program = program;
  }

  /**
   * Opens the root file system. Fixes the mode of an init program copied by an earlier version of Podwright, which made it world-readable.
   */
  static open(options: HostInitRootOptions): HostInitRoot {
    const opened = new HostInitRoot(options);
    mendMode(join(opened.#root, 'init'), UNREADABLE_PROGRAM);
    return opened;
  }

  /** Prepares the shared root file system. Throws `failed_precondition` if the host has no init program. */
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
        "run a pod's infra process: no init program found; install the package catatonit",
      );
    }
    for (const name of INFRA_DIRECTORIES)
      mkdirSync(join(this.#root, name), { recursive: true, mode: CONTAINER_DIRECTORY });
    copyFileSync(source, `${program}.new`);
    chmodSync(`${program}.new`, UNREADABLE_PROGRAM);
    renameSync(`${program}.new`, program);
  }
}

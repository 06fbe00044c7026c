import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, mendMode, PodwrightError, UNREADABLE_PROGRAM } from '@podwright/base';
import { openWay } from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { INFRA_FOLDERS, type InfraProgram } from './infra-spec.ts';

/** Where the root file systems of sandboxes' own processes come from. */
export interface InfraRoots {
  /** Makes the sandbox's, or finds the one that all have. Mounts are made in the sandbox's folder only, which is there. */
  prepare(sandbox: SandboxRecord, signal: AbortSignal): Promise<InfraProgram>;
  /** Removes what was made for the sandbox. No error if there is nothing. */
  remove(sandboxId: string): Promise<void>;
  /** Ids of sandboxes for which anything was made. */
  list(): Promise<string[]>;
}

/** Who runs it: an id that no user of a host can have, as it was -1 once. The host's `nobody` could signal and trace it. */
const NO_USER = 65_535;

/** One root file system for all, which holds nothing but the machine's init program: `<state>/init`. */
export class HostInitRoot implements InfraRoots {
  readonly #root: string;
  readonly #program: () => Promise<string | undefined>;

  /** `program` finds a static init that waits and reaps with `-P`, such as `catatonit`; none if the machine has none. */
  constructor({ state, program }: { state: string; program: () => Promise<string | undefined> }) {
    this.#root = join(state, 'init');
    mendMode(join(this.#root, 'init'), UNREADABLE_PROGRAM); // an earlier version let everybody read it
    this.#program = program;
  }

  /** `failed_precondition` if the machine has no init program. */
  async prepare({ config }: SandboxRecord): Promise<InfraProgram> {
    if (config.userNamespace !== undefined) openWay(dirname(this.#root), this.#root);
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
    const source = await this.#program();
    if (source === undefined) {
      throw new PodwrightError(
        'failed_precondition',
        "run a pod's own process: no init program is there; install the package catatonit",
      );
    }
    for (const name of INFRA_FOLDERS) mkdirSync(join(this.#root, name), { recursive: true, mode: CONTAINER_DIRECTORY });
    copyFileSync(source, `${program}.new`);
    chmodSync(`${program}.new`, UNREADABLE_PROGRAM);
    renameSync(`${program}.new`, program);
  }
}

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyedLock, PodwrightError, wrapError } from '@podwright/base';
import { findProgram, pathExists, runChecked } from '@podwright/host';
import { type AppArmorSurroundings, defaultAppArmorProfile } from '@podwright/oci';

/** Paths of the kernel's AppArmor interface, and of the distribution's AppArmor files and tools. */
export type AppArmorPaths = {
  /** The kernel's list of loaded profiles, one `NAME (enforce)` per line. */
  loaded: string;
  /** Directory of the include files of AppArmor profiles (abstractions and tunables). */
  policies: string;
  /** Name or path of the program that loads AppArmor profiles. */
  parser: string;
};

const HOST_PATHS: AppArmorPaths = {
  loaded: '/sys/kernel/security/apparmor/profiles',
  policies: '/etc/apparmor.d',
  parser: 'apparmor_parser',
};

/** The AppArmor profile requested by a container; `undefined` if it requests none. */
export type AppArmorRequest =
  | { type: 'runtime-default' | 'unconfined' }
  | { type: 'localhost'; ref: string }
  | undefined;

const DEFAULT_PROFILE = 'podwright-default';
const LOAD_TIMEOUT_MS = 60_000;

/** Selects a container's AppArmor profile, and loads the default profile on first use. */
export class AppArmor {
  readonly #enabled: boolean;
  readonly #paths: AppArmorPaths;
  /** Whether this process has loaded the default profile. Until then, the kernel might still have an earlier version of it. */
  #isCurrent = false;
  readonly #loading = new KeyedLock();

  /** `enabled`: whether the kernel supports AppArmor and it is enabled. */
  constructor(enabled: boolean, paths: AppArmorPaths = HOST_PATHS) {
    this.#enabled = enabled;
    this.#paths = paths;
  }

  /**
   * Returns a container's AppArmor profile; '' for none. As in containerd, a container that requests no profile gets the default profile if
   * the host has AppArmor, but a privileged container gets none unless it requests a localhost profile. Throws `failed_precondition` if a
   * profile is requested but the host has no AppArmor, the localhost profile is not loaded, or the default profile cannot be loaded.
   */
  async profileFor(request: AppArmorRequest, { privileged }: { privileged: boolean }): Promise<string> {
    if (request?.type === 'unconfined') return '';
    if (!this.#enabled) {
      if (request === undefined) return '';
      const name = request.type === 'localhost' ? request.ref : 'the default one';
      throw new PodwrightError(
        'failed_precondition',
        `use AppArmor profile ${name}: this kernel has AppArmor switched off`,
      );
    }
    if (request?.type === 'localhost') return await this.#requireLoaded(request.ref);
    if (privileged) return '';
    if (request === undefined && !(await this.#canLoad())) return '';
    await this.#loading.run(DEFAULT_PROFILE, () => this.#loadDefault());
    return DEFAULT_PROFILE;
  }

  async #requireLoaded(name: string): Promise<string> {
    if (await this.#isLoaded(name)) return name;
    throw new PodwrightError(
      'failed_precondition',
      `use AppArmor profile ${name}: it is not loaded; load it with apparmor_parser`,
    );
  }

  async #isLoaded(name: string): Promise<boolean> {
    const loaded = await readFile(this.#paths.loaded, 'utf8').catch((error) => {
      throw wrapError('read the loaded AppArmor profiles', error, 'failed_precondition');
    });
    return loaded.split('\n').some((line) => line.startsWith(`${name} (`));
  }

  /**
   * Whether the default profile is loaded or can be loaded. If a host with AppArmor lacks apparmor_parser, containers that request no
   * profile run unconfined.
   */
  async #canLoad(): Promise<boolean> {
    return (await this.#isLoaded(DEFAULT_PROFILE)) || findProgram(this.#paths.parser) !== undefined;
  }

  async #loadDefault(): Promise<void> {
    if (this.#isCurrent) return;
    const parser = findProgram(this.#paths.parser);
    if (parser === undefined) {
      if (await this.#isLoaded(DEFAULT_PROFILE)) return;
      throw new PodwrightError(
        'failed_precondition',
        'load the default AppArmor profile: apparmor_parser is not installed; install the package apparmor',
      );
    }
    const directory = await mkdtemp(join(tmpdir(), 'podwright-apparmor-'));
    try {
      const file = join(directory, DEFAULT_PROFILE);
      await writeFile(file, defaultAppArmorProfile(DEFAULT_PROFILE, await this.#surroundings()));
      const signal = AbortSignal.timeout(LOAD_TIMEOUT_MS);
      await runChecked(parser, ['--replace', '--skip-cache', file], { signal });
      this.#isCurrent = true;
    } catch (error) {
      throw wrapError('load the default AppArmor profile', error, 'failed_precondition');
    } finally {
      await rm(directory, { recursive: true });
    }
  }

  async #surroundings(): Promise<AppArmorSurroundings> {
    const has = (name: string) => pathExists(join(this.#paths.policies, name));
    const own = await readFile('/proc/self/attr/current', 'utf8').catch(() => '');
    return {
      abi: await has('abi/3.0'),
      tunables: await has('tunables/global'),
      base: await has('abstractions/base'),
      daemonProfile: own.split(' ', 1)[0]?.trim() || 'unconfined',
    };
  }
}

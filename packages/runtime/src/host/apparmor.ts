import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, KeyedLock, PodwrightError, runChecked, wrapError } from '@podwright/base';
import { type AppArmorSurroundings, defaultAppArmorProfile } from '../oci/apparmor-profile.ts';

/** Where the kernel and the distribution keep AppArmor's things. */
export type AppArmorPlaces = {
  /** The kernel's list of loaded profiles: `NAME (enforce)` a line. */
  loaded: string;
  /** What profiles include. */
  policies: string;
  /** Name or path of the program that loads profiles. */
  parser: string;
};

const KERNEL_PLACES: AppArmorPlaces = {
  loaded: '/sys/kernel/security/apparmor/profiles',
  policies: '/etc/apparmor.d',
  parser: 'apparmor_parser',
};

/** What a container asks for; `undefined` says nothing. */
export type AppArmorRequest =
  | { type: 'runtime-default' | 'unconfined' }
  | { type: 'localhost'; ref: string }
  | undefined;

const DEFAULT_PROFILE = 'podwright-default';
const LOAD_TIMEOUT_MS = 60_000;

/** AppArmor profiles of this host: which one a container gets, and the default one, loaded when it is first needed. */
export class AppArmor {
  readonly #enabled: boolean;
  readonly #places: AppArmorPlaces;
  /** Whether the default profile in the kernel is ours, not that of an earlier version. */
  #isCurrent = false;
  readonly #loading = new KeyedLock();

  /** `enabled`: the kernel has AppArmor, and it is switched on. */
  constructor(enabled: boolean, places: AppArmorPlaces = KERNEL_PLACES) {
    this.#enabled = enabled;
    this.#places = places;
  }

  /**
   * The profile for a container, '' for none. As in containerd, a container that says nothing gets the default one where there is AppArmor,
   * and a privileged one only a profile that it names. `failed_precondition` where there is no AppArmor and one is
   * asked for, or the profile is not loaded, or the default one cannot be.
   */
  async profileFor(asked: AppArmorRequest, { privileged }: { privileged: boolean }): Promise<string> {
    if (asked?.type === 'unconfined') return '';
    if (!this.#enabled) {
      if (asked === undefined) return '';
      const name = asked.type === 'localhost' ? asked.ref : 'the default one';
      throw new PodwrightError(
        'failed_precondition',
        `use AppArmor profile ${name}: this kernel has AppArmor switched off`,
      );
    }
    if (asked?.type === 'localhost') return await this.#requireLoaded(asked.ref);
    if (privileged) return '';
    if (asked === undefined && !(await this.#canLoad())) return '';
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
    const loaded = await readFile(this.#places.loaded, 'utf8').catch((error) => {
      throw wrapError('read the loaded AppArmor profiles', error, 'failed_precondition');
    });
    return loaded.split('\n').some((line) => line.startsWith(`${name} (`));
  }

  /** A host may have AppArmor without the program: a container that says nothing then runs without a profile. */
  async #canLoad(): Promise<boolean> {
    return (await this.#isLoaded(DEFAULT_PROFILE)) || findProgram(this.#places.parser) !== undefined;
  }

  async #loadDefault(): Promise<void> {
    if (this.#isCurrent) return;
    const parser = findProgram(this.#places.parser);
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
    const has = (name: string) =>
      access(join(this.#places.policies, name)).then(
        () => true,
        () => false,
      );
    const own = await readFile('/proc/self/attr/current', 'utf8').catch(() => '');
    return {
      abi: await has('abi/3.0'),
      tunables: await has('tunables/global'),
      base: await has('abstractions/base'),
      daemonProfile: own.split(' ', 1)[0]?.trim() || 'unconfined',
    };
  }
}

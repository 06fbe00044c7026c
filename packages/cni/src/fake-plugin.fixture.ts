import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A scratch directory of shell scripts that act as plugins. Each run appends a line `COMMAND plugin` to the journal, and saves its stdin as
 * `COMMAND.plugin.json`.
 */
export class FakePlugins implements AsyncDisposable {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async create(): Promise<FakePlugins> {
    return new FakePlugins(await mkdtemp(join(tmpdir(), 'podwright-cni-')));
  }

  get cacheDirectory(): string {
    return join(this.directory, 'cache');
  }

  /** Installs a plugin. `body` runs after the journal has been written, with `$CNI_COMMAND` set and stdin in `$config`. */
  async install(name: string, body: string): Promise<void> {
    const script = `#!/bin/sh
echo "$CNI_COMMAND ${name}" >> "${this.directory}/journal"
config=$(cat)
printf '%s' "$config" > "${this.directory}/$CNI_COMMAND.${name}.json"
env | grep ^CNI_ > "${this.directory}/$CNI_COMMAND.${name}.env"
${body}
`;
    const path = join(this.directory, name);
    await writeFile(path, script);
    await chmod(path, 0o755);
  }

  async journal(): Promise<string[]> {
    const text = await readFile(join(this.directory, 'journal'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  /** Returns the configuration that a plugin received for the last run of a command. */
  async request(command: string, plugin: string): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(join(this.directory, `${command}.${plugin}.json`), 'utf8'));
  }

  async environment(command: string, plugin: string): Promise<string[]> {
    const text = await readFile(join(this.directory, `${command}.${plugin}.env`), 'utf8');
    return text.trim().split('\n').sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** The body of a plugin script that returns one address for ADD and nothing for other commands. */
export const answers = (address: string): string =>
  `[ "$CNI_COMMAND" = ADD ] && echo '{"cniVersion":"1.0.0","ips":[{"address":"${address}"}]}'; exit 0`;

/** The body of a plugin script that fails one command with a CNI error and handles all other commands like `answers`. */
export const failsOn = (command: string, address: string): string =>
  `[ "$CNI_COMMAND" = ${command} ] && { echo '{"code":11,"msg":"try later","details":"the pool is busy"}'; exit 1; }
${answers(address)}`;

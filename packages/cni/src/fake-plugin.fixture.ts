import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A scratch directory of shell scripts that stand for broken plugins. Each run is a line `COMMAND plugin` in the
 * journal; what a plugin got on stdin is kept as `COMMAND.plugin.json`.
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

  /** Installs a plugin; `body` runs after the journal is written, with `$CNI_COMMAND` set and stdin in `$config`. */
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

  /** The configuration that the last run of a command of a plugin got. */
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

/** A body that answers ADD with one address and everything else with nothing. */
export const answers = (address: string): string =>
  `[ "$CNI_COMMAND" = ADD ] && echo '{"cniVersion":"1.0.0","ips":[{"address":"${address}"}]}'; exit 0`;

/** A body that fails a command with a CNI error and does everything else as `answers` does. */
export const failsOn = (command: string, address: string): string =>
  `[ "$CNI_COMMAND" = ${command} ] && { echo '{"code":11,"msg":"try later","details":"the pool is busy"}'; exit 1; }
${answers(address)}`;

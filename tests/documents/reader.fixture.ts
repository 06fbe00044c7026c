import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { waitFor, withTimeout } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { framesOf } from '../../scripts/pictures/frames.ts';
import { type Output, TerminalSession } from '../../scripts/pictures/terminal-session.ts';
import { PrivateHost } from '../../scripts/private-host.ts';
import type { Bundle } from '../pods/bundle.fixture.ts';
import { type Ended, StartedProgram } from '../pods/started-program.ts';

const TERMINAL = { columns: 100, rows: 40 };
const REGISTRY_PORT = 5000;
/** Timeout in seconds for each command, and for the command's effect. */
const PATIENCE_S = 20;
export const CTRL_C = '\x03';

/**
 * A reader following the documents on a simulated host, with `podwright` in PATH, a working directory, and one registry that replaces all
 * others.
 */
export class Reader implements AsyncDisposable {
  readonly directory: string;
  readonly #host: PrivateHost;
  readonly #path: string;
  #node: StartedProgram | undefined;

  private constructor(host: PrivateHost, bundle: Bundle) {
    this.#host = host;
    this.directory = join(host.directory, 'work');
    mkdirSync(this.directory);
    const bin = join(dirname(bundle.program), '../bin');
    mkdirSync(bin, { recursive: true });
    copyFileSync(new URL('../../bin/podwright', import.meta.url), join(bin, 'podwright'));
    this.#path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  }

  static async start(bundle: Bundle): Promise<Reader> {
    return new Reader(await PrivateHost.start(), bundle);
  }

  /** Redirects docker.io and all other registries to one on this host, which serves the examples' image under these names. */
  async serveImages(image: string, names: string[]): Promise<void> {
    const config = join(this.#host.directory, 'registry.yml');
    const storage = { filesystem: { rootdirectory: join(this.#host.directory, 'registry') } };
    const http = { addr: `127.0.0.1:${REGISTRY_PORT}` };
    writeFileSync(config, JSON.stringify({ version: '0.1', log: { level: 'error' }, storage, http })); // JSON is YAML
    this.#start('docker-registry', 'serve', config);
    const address = `127.0.0.1:${REGISTRY_PORT}`;
    await this.until(async () => (await this.run(`curl --silent --fail http://${address}/v2/`)).code === 0);
    for (const name of names) {
      const copy = [
        'copy',
        '--quiet',
        '--dest-tls-verify=false',
        `oci-archive:${image}`,
        `docker://${address}/${name}`,
      ];
      await this.#ok('skopeo', ...copy);
    }
    await this.write('/etc/podwright/certs.d/_default/hosts.toml', `[host."http://${address}"]\n`);
    await this.#ok('sh', '-c', 'echo 127.0.0.1 mirror.example >> /etc/hosts');
  }

  async write(path: string, text: string): Promise<void> {
    const [program, ...args] = this.#command('sh', '-c', 'mkdir -p "$(dirname "$0")" && cat > "$0"', path);
    await runChecked(program!, args, { stdin: text });
  }

  /** Runs a command line to completion. Standard error is merged into standard output, as in a terminal. */
  async run(line: string): Promise<Ended> {
    const program = this.#start('timeout', '--kill-after=5', String(PATIENCE_S), 'bash', '-c', `exec 2>&1; ${line}`);
    program.child.stdin!.end();
    return await program.ended();
  }

  /** Types a command line at a terminal, then the keys once the output matches the pattern, and waits for the command to end. */
  async play(line: string, { until, keys }: { until: RegExp; keys: string }): Promise<Output[]> {
    await using terminal = new TerminalSession(TERMINAL, (...command) => this.#command(...command), {
      PATH: this.#path,
    });
    await terminal.until(/\$ $/);
    terminal.press(`${line}\n`);
    await terminal.until(/\n/);
    await terminal.until(until);
    terminal.press(keys);
    await terminal.until(/\$ $/);
    return terminal.outputs;
  }

  /** Starts the node, as systemd would. */
  async startNode(): Promise<void> {
    if (this.#node !== undefined) return;
    this.#node = this.#start('sh', '-c', 'echo $$ > node.pid; exec podwright node');
    await this.until(async () => (await this.run('podwright ps')).code === 0);
  }

  async stopNode(): Promise<void> {
    if (this.#node === undefined) return;
    await this.run('kill $(cat node.pid)'); // nsenter does not forward signals
    await this.#node.ended();
    this.#node = undefined;
  }

  async until(holds: () => Promise<boolean>): Promise<void> {
    using signal = withTimeout(undefined, PATIENCE_S * 1000, `wait for ${holds}`);
    await waitFor(async () => (await holds()) || undefined, { intervalMs: 100, signal });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#host[Symbol.asyncDispose]();
  }

  #command(...words: string[]): string[] {
    return this.#host.command(this.directory, ...words);
  }

  #start(...words: string[]): StartedProgram {
    return new StartedProgram(this.#command(...words), { env: { PATH: this.#path } });
  }

  async #ok(...words: string[]): Promise<void> {
    const [program, ...args] = this.#command(...words);
    await runChecked(program!, args);
  }
}

/** Returns the terminal's final contents. */
export function screenText(outputs: Output[]): string {
  const { lines } = framesOf(outputs, TERMINAL).at(-1)!;
  return lines.map((spans) => `${spans.map(({ text }) => text).join('')}\n`).join('');
}

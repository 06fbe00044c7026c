import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { runChecked, waitFor, withTimeout } from '@podwright/base';
import { framesOf } from '../../scripts/pictures/frames.ts';
import { type Output, TerminalSession } from '../../scripts/pictures/terminal-session.ts';
import { PrivateHost } from '../../scripts/private-host.ts';
import type { Bundle } from '../pods/bundle.fixture.ts';
import { type Ended, StartedProgram } from '../pods/started-program.ts';

const TERMINAL = { columns: 100, rows: 40 };
const REGISTRY_PORT = 5000;
/** For each command, and for what it brings about. */
const PATIENCE_S = 20;
export const CTRL_C = '\x03';

/**
 * Somebody who does what the documents say, on a host of their own: with `podwright` in PATH, a directory to work in, and a
 * registry that stands for all others.
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

  /** Has docker.io, and any other registry, answered by one on this host that has the image of the examples by these names. */
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

  /** Writes a file on the reader's host. */
  async write(path: string, text: string): Promise<void> {
    const [program, ...args] = this.#command('sh', '-c', 'mkdir -p "$(dirname "$0")" && cat > "$0"', path);
    await runChecked(program!, args, { stdin: text });
  }

  /** Runs a command line to its end. Standard error comes with standard output, as in a terminal. */
  async run(line: string): Promise<Ended> {
    const program = this.#start('timeout', '--kill-after=5', String(PATIENCE_S), 'bash', '-c', `exec 2>&1; ${line}`);
    program.child.stdin!.end();
    return await program.ended();
  }

  /** Types a command line in a terminal, then the keys once the pattern has come, and waits for its end. */
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

  /** The node, as systemd runs it. */
  async startNode(): Promise<void> {
    if (this.#node !== undefined) return;
    this.#node = this.#start('sh', '-c', 'echo $$ > node.pid; exec podwright node');
    await this.until(async () => (await this.run('podwright ps')).code === 0);
  }

  async stopNode(): Promise<void> {
    if (this.#node === undefined) return;
    await this.run('kill $(cat node.pid)'); // nsenter hands no signal on
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

/** What a reader sees in the terminal in the end. */
export function screenText(outputs: Output[]): string {
  const { lines } = framesOf(outputs, TERMINAL).at(-1)!;
  return lines.map((spans) => `${spans.map(({ text }) => text).join('')}\n`).join('');
}

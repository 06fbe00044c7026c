/** An API server in a separate process, with kubectl as its client. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@podwright/host';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';

/** Path of kubectl: `PODWRIGHT_KUBECTL`, or else the kubectl in PATH. */
export const KUBECTL = process.env.PODWRIGHT_KUBECTL ?? findProgram('kubectl') ?? 'kubectl';

/** Throws if kubectl is not installed. */
export function kubectlMinor(): number {
  const { stdout, error } = spawnSync(KUBECTL, ['version', '--client', '--output=json'], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return Number.parseInt(JSON.parse(stdout).clientVersion.minor, 10);
}

export type Result = { code: number | null; out: string; err: string };

export class ApiPlace {
  readonly directory = mkdtempSync(join(tmpdir(), 'pw-api-'));
  readonly bundle: Bundle;
  readonly #serverArgs: readonly string[];
  #server: StartedProgram | undefined;

  constructor(bundle: Bundle, serverArgs: readonly string[] = []) {
    this.bundle = bundle;
    this.#serverArgs = serverArgs;
  }

  static async start(...serverArgs: string[]): Promise<ApiPlace> {
    const place = new ApiPlace(await buildBundle(), serverArgs);
    await place.startServer();
    return place;
  }

  get socketPath(): string {
    return join(this.directory, 'state/apiserver.sock');
  }

  get kubeconfig(): string {
    return join(this.directory, 'state/admin.kubeconfig');
  }

  async startServer(): Promise<void> {
    this.#server = new StartedProgram(this.#command('apiserver', '--listen', '127.0.0.1:0', ...this.#serverArgs));
    await this.#server.until(/the Kubernetes API is available/);
  }

  async stopServer(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server!;
    server.child.kill(signal);
    if (server.child.exitCode === null && server.child.signalCode === null)
      await new Promise((resolve) => server.child.once('close', resolve));
  }

  async remove(): Promise<void> {
    await this.stopServer('SIGTERM');
    rmSync(this.directory, { recursive: true });
    this.bundle.remove();
  }

  file(name: string, content: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  /** Writes a kubeconfig for another user and returns its path. */
  kubeconfigOf(user: string, ...groups: string[]): string {
    const [program, ...args] = this.#command(
      'kubeconfig',
      '--user',
      user,
      ...groups.flatMap((one) => ['--group', one]),
    );
    const { stdout } = spawnSync(program!, args, { encoding: 'utf8' });
    return this.file(`${user}.kubeconfig`, stdout);
  }

  podwright(...args: string[]): Result {
    const [program, ...all] = this.#command(...args);
    const { status, stdout, stderr } = spawnSync(program!, all, { encoding: 'utf8', env: this.#env });
    return { code: status, out: stdout, err: stderr };
  }

  kubectl(...args: string[]): Result {
    return this.kubectlWithInput('', ...args);
  }

  kubectlWithInput(input: string, ...args: string[]): Result {
    const { status, stdout, stderr } = spawnSync(KUBECTL, this.#kubectlArgs(args), {
      encoding: 'utf8',
      env: this.#env,
      input,
      maxBuffer: 32 << 20,
    });
    return { code: status, out: stdout, err: stderr };
  }

  startKubectl(...args: string[]): StartedProgram {
    return new StartedProgram([KUBECTL, ...this.#kubectlArgs(args)], { env: this.#env });
  }

  /** Runs kubectl on a pseudo-terminal. The arguments must not need shell quoting. */
  startOnTerminal(...args: string[]): StartedProgram {
    const line = [KUBECTL, ...this.#kubectlArgs(args)].join(' ');
    return new StartedProgram(['script', '-qfec', line, '/dev/null'], { env: this.#env });
  }

  /** Sends a request to the Unix socket: POST if there is an object, otherwise GET. */
  call(path: string, object?: object): Promise<{ status: number; body: string }> {
    const method = object === undefined ? 'GET' : 'POST';
    const headers = { 'content-type': 'application/json' };
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    const call = request({ socketPath: this.socketPath, path, method, headers }, async (response) => {
      const chunks: Buffer[] = await response.toArray();
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
    });
    call.on('error', reject).end(object && JSON.stringify(object));
    return promise;
  }

  #command(...args: string[]): string[] {
    const paths = ['--root', join(this.directory, 'root'), '--state', join(this.directory, 'state')];
    return [process.execPath, this.bundle.program, ...paths, ...args];
  }

  #kubectlArgs(args: string[]): string[] {
    const own = args.includes('--kubeconfig') ? [] : ['--kubeconfig', this.kubeconfig];
    return [...own, '--cache-dir', join(this.directory, 'cache'), ...args];
  }

  get #env(): Record<string, string> {
    return { PATH: process.env.PATH!, HOME: this.directory };
  }
}

import { PassThrough, type Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { CriClient } from '@podwright/cri';
import { type CommandIo, runRemoteCommand } from '@podwright/streaming';

/** A runtime with the busybox image, for a single suite. */
export type RuntimeForStreaming = {
  cri: CriClient;
  image: string;
  logDirectory: string;
  end: () => Promise<void>;
  /** How long containers keep running after their last output, for runtimes that may drop output written just before the exit. */
  lingerSeconds?: number;
};

/** Streams that a client requests besides stdout. */
export type RequestedStreams = { stdin?: boolean; stderr?: boolean; tty?: boolean };

/** Timeout in ms for every streaming call of the tests. */
export const boundMs = 60_000;

/** A pod for stream tests. Its container `main` serves /etc over HTTP and responds to lines of input. */
export class StreamingPod {
  readonly httpPort = 8080;
  readonly runtime: RuntimeForStreaming;
  podSandboxId = '';
  /** ID of the container `main`. */
  main = '';
  #made = 0;

  constructor(runtime: RuntimeForStreaming) {
    this.runtime = runtime;
  }

  get #config() {
    const metadata = { name: 'streams', uid: 'uid-streams', namespace: 'default', attempt: 0 };
    return { metadata, hostname: 'streams', logDirectory: this.runtime.logDirectory, linux: {} };
  }

  async start(): Promise<this> {
    ({ podSandboxId: this.podSandboxId } = await this.runtime.cri.runtime.runPodSandbox({ config: this.#config }));
    const script = `httpd -p ${this.httpPort} -h /etc; while read line; do echo "got $line"; done`;
    this.main = await this.container(script, { stdin: true });
    return this;
  }

  /** Starts another container, which runs a script; returns its ID. */
  async container(script: string, options: { stdin?: boolean; tty?: boolean } = {}): Promise<string> {
    const { runtime } = this.runtime.cri;
    const name = `container-${++this.#made}`;
    const { containerId } = await runtime.createContainer({
      podSandboxId: this.podSandboxId,
      sandboxConfig: this.#config,
      config: {
        metadata: { name, attempt: 0 },
        image: { image: this.runtime.image },
        command: ['sh', '-c', script],
        logPath: `${name}.log`,
        linux: {},
        ...options,
      },
    });
    await runtime.startContainer({ containerId });
    return containerId;
  }

  /** Returns an exec URL that runs a shell script in the container `main`. */
  async exec(script: string, { stdin = false, stderr = true, tty = false }: RequestedStreams = {}): Promise<string> {
    const cmd = ['sh', '-c', script];
    const request = { containerId: this.main, cmd, stdin, stdout: true, stderr, tty };
    return (await this.runtime.cri.runtime.exec(request)).url;
  }

  async attach(
    containerId: string,
    { stdin = false, stderr = true, tty = false }: RequestedStreams = {},
  ): Promise<string> {
    return (await this.runtime.cri.runtime.attach({ containerId, stdin, stdout: true, stderr, tty })).url;
  }
}

/** Runs the command of an exec URL to completion; returns its exit code and output. */
export async function collect(url: string, stdin?: Readable) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const outputs = Promise.all([buffer(stdout), text(stderr)]);
  const io = { stdin, stdout, stderr, tty: false };
  const exitCode = await runRemoteCommand({ url }, io, AbortSignal.timeout(boundMs));
  stdout.end();
  stderr.end();
  const [out, err] = await outputs;
  return { exitCode, out, err };
}

/** A client of an exec or attach session, with its streams and the output so far. */
export class Visitor {
  readonly stdin = new PassThrough();
  readonly ended: Promise<number>;
  readonly #leave = new AbortController();
  output = '';

  /** `stdin`, `tty` and `resize` must match the request that returned the URL. */
  constructor(url: string, { stdin = false, tty = false, resize }: RequestedStreams & Pick<CommandIo, 'resize'> = {}) {
    const stdout = new PassThrough().on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    const stderr = tty ? undefined : new PassThrough().resume();
    const io = { stdin: stdin ? this.stdin : undefined, stdout, stderr, tty, resize };
    const signal = AbortSignal.any([this.#leave.signal, AbortSignal.timeout(boundMs)]);
    this.ended = runRemoteCommand({ url }, io, signal);
    this.ended.catch(() => undefined); // callers handle it by awaiting `ended`
  }

  leave(): void {
    this.#leave.abort(new Error('the visitor left'));
  }
}

/** Our clients of exec, attach and port-forward on a CRI runtime, whoever made it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { PortForwarder, proxyUpgrade, runRemoteCommand, type TerminalSize } from '@podwright/streaming';

/** A runtime with the busybox image, for one suite. */
export type RuntimeForStreaming = {
  cri: CriClient;
  image: string;
  logDirectory: string;
  end: () => Promise<void>;
};

const httpPort = 8080;
/** Longer than any answer that is expected. */
const boundMs = 30_000;

export function streamingSuite(name: string, open: () => Promise<RuntimeForStreaming>): void {
  suite(`streaming from ${name}`, { timeout: 120_000 }, () => {
    let runtime: RuntimeForStreaming;
    let podSandboxId: string;
    let containerId: string;

    before(async () => {
      runtime = await open();
      const metadata = { name: 'streams', uid: 'uid-streams', namespace: 'default', attempt: 0 };
      const config = { metadata, hostname: 'streams', logDirectory: runtime.logDirectory, linux: {} };
      ({ podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config }));
      const start = async (script: string, container: object) => {
        const made = await runtime.cri.runtime.createContainer({
          podSandboxId,
          sandboxConfig: config,
          config: { image: { image: runtime.image }, command: ['sh', '-c', script], linux: {}, ...container },
        });
        await runtime.cri.runtime.startContainer({ containerId: made.containerId });
        return made.containerId;
      };
      containerId = await start(`httpd -p ${httpPort} -h /; while read line; do echo "got $line"; done`, {
        metadata: { name: 'main', attempt: 0 },
        logPath: 'main.log',
        stdin: true,
      });
    });

    after(() => runtime?.end());

    const exec = async (script: string, choice: { stdin?: boolean; stderr?: boolean; tty?: boolean } = {}) => {
      const { stdin = false, stderr = true, tty = false } = choice;
      const cmd = ['sh', '-c', script];
      return (await runtime.cri.runtime.exec({ containerId, cmd, stdin, stdout: true, stderr, tty })).url;
    };

    const collect = async (url: string, input?: Buffer) => {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const outputs = Promise.all([buffer(stdout), text(stderr)]);
      const stdin = input && Readable.from([input]);
      const signal = AbortSignal.timeout(boundMs);
      const exitCode = await runRemoteCommand({ url }, { stdin, stdout, stderr, tty: false }, signal);
      stdout.end();
      stderr.end();
      const [out, err] = await outputs;
      return { exitCode, out, err };
    };

    test('a command gives its output, its errors and its exit code', async () => {
      const { exitCode, out, err } = await collect(await exec('echo out; echo err >&2; exit 3'));
      assert.deepEqual([exitCode, out.toString(), err], [3, 'out\n', 'err\n']);
    });

    test('quick commands lose no output', async () => {
      const words = await Promise.all(
        Array.from({ length: 10 }, async (_, index) => (await collect(await exec(`echo ${index}`))).out.toString()),
      );
      assert.deepEqual(
        words,
        Array.from({ length: 10 }, (_, index) => `${index}\n`),
      );
    });

    test('twenty megabytes of any bytes go in and come out, and the end of the input is seen', async () => {
      const sent = Buffer.alloc(20 << 20, Buffer.from([0, 255, 10, 13, 4, 128]));
      const { exitCode, out } = await collect(await exec('cat', { stdin: true }), sent);
      assert.equal(exitCode, 0);
      assert.ok(out.equals(sent));
    });

    test('a command on a terminal sees its size and its changes', async () => {
      const until = (size: string) => `until stty size | grep -q '${size}'; do sleep 0.05; done`;
      // While a terminal has no size, busybox's stty says so instead.
      const script = `exec 2>/dev/null; ${until('33 99')}; echo first; ${until('40 120')}; read line; echo "read $line"; exit 5`;
      const url = await exec(script, { stdin: true, stderr: false, tty: true });
      const [stdin, stdout] = [new PassThrough(), new PassThrough()];
      let tell: (size: TerminalSize) => void = () => undefined;
      const resize = (listener: typeof tell) => {
        tell = listener;
        listener({ Width: 99, Height: 33 });
        return { [Symbol.dispose]: () => undefined };
      };
      let output = '';
      stdout.on('data', (chunk: Buffer) => {
        const told = output.includes('first');
        output += chunk.toString();
        if (told || !output.includes('first')) return;
        tell({ Width: 120, Height: 40 });
        stdin.write('words\n');
      });
      const io = { stdin, stdout, tty: true, resize };
      assert.equal(await runRemoteCommand({ url }, io, AbortSignal.timeout(boundMs)), 5);
      assert.match(output, /read words\r\n$/);
    });

    test('a command that is not there is an error in words', async () => {
      const request = { containerId, cmd: ['nosuch'], stdin: false, stdout: true, stderr: true, tty: false };
      const { url } = await runtime.cri.runtime.exec(request);
      await assert.rejects(collect(url), /nosuch/);
    });

    test('attach talks to the container, which goes on when the client leaves', async () => {
      for (const word of ['one', 'two']) {
        const request = { containerId, stdin: true, stdout: true, stderr: true, tty: false };
        const { url } = await runtime.cri.runtime.attach(request);
        const [stdin, stdout, leave] = [new PassThrough(), new PassThrough(), new AbortController()];
        const io = { stdin, stdout, stderr: new PassThrough().resume(), tty: false };
        const attached = runRemoteCommand({ url }, io, leave.signal);
        const left = assert.rejects(attached, /that is all/);
        stdin.write(`${word}\n`);
        assert.equal(String(await once(stdout, 'data', { signal: AbortSignal.timeout(boundMs) })), `got ${word}\n`);
        leave.abort(new Error('that is all'));
        await left;
      }
    });

    test('ports are forwarded, and one that nobody listens on is told', async () => {
      const { url } = await runtime.cri.runtime.portForward({ podSandboxId, port: [httpPort] });
      using forwarder = new PortForwarder({ url });
      const errors: string[] = [];
      let podPort = httpPort;
      const listener = createTcpServer({ allowHalfOpen: true }, (socket: Socket) =>
        forwarder.forward(socket, podPort).catch((error: Error) => errors.push(error.message)),
      ).listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const { port } = listener.address() as AddressInfo;
      const get = async () => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        socket.end('GET /etc/hostname HTTP/1.0\r\n\r\n');
        return text(socket).catch(String);
      };
      const answers = await Promise.all(Array.from({ length: 10 }, get));
      for (const answer of answers) assert.match(answer, /200 OK[\s\S]*\r\n\r\nstreams\n$/);
      podPort = 1;
      await get();
      await waitFor(() => errors[0], { intervalMs: 10, signal: AbortSignal.timeout(boundMs) });
      assert.match(errors[0]!, /refused/i);
      listener.close();
    });

    test('a command runs through a proxy', async () => {
      const target = await exec('cat; exit 7', { stdin: true });
      const proxy = createServer().listen(0, '127.0.0.1');
      proxy.on('upgrade', (request, socket, head) => proxyUpgrade(request, { socket, head }, target));
      await once(proxy, 'listening');
      const { port } = proxy.address() as AddressInfo;
      const sent = Buffer.alloc(5 << 20, 'proxy');
      const { exitCode, out } = await collect(`http://127.0.0.1:${port}/`, sent);
      assert.deepEqual([exitCode, out.equals(sent)], [7, true]);
      proxy.close();
    });
  });
}

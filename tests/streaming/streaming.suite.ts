/** Podwright's exec, attach and port-forward clients on any CRI runtime. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { ContainerState } from '@podwright/cri';
import { PortForwarder, proxyUpgrade, type TerminalSize } from '@podwright/streaming';
import { boundMs, collect, type RuntimeForStreaming, StreamingPod, Visitor } from './streaming-pod.fixture.ts';

const eventually = (condition: () => boolean) =>
  waitFor(() => condition() || undefined, { intervalMs: 10, signal: AbortSignal.timeout(boundMs) });

export function streamingSuite(name: string, open: () => Promise<RuntimeForStreaming>): void {
  suite(`streaming from ${name}`, { timeout: 300_000 }, () => {
    let pod: StreamingPod;

    before(async () => {
      pod = await new StreamingPod(await open()).start();
    });
    after(() => pod?.runtime.end());

    execTests(() => pod);
    attachTests(() => pod);
    portForwardTests(() => pod);
  });
}

function execTests(pod: () => StreamingPod): void {
  test('a command returns its outputs and its exit code', async () => {
    const { exitCode, out, err } = await collect(await pod().exec('echo out; echo err >&2; exit 3'));
    assert.deepEqual([exitCode, out.toString(), err], [3, 'out\n', 'err\n']);
  });

  test('ten quick commands at once lose no output', async () => {
    const numbers = Array.from({ length: 10 }, (_, index) => index);
    const words = await Promise.all(
      numbers.map(async (index) => (await collect(await pod().exec(`echo ${index}`))).out),
    );
    assert.deepEqual(
      words.map(String),
      numbers.map((index) => `${index}\n`),
    );
  });

  test('64 megabytes of any bytes pass in both directions, and the end of the input is forwarded', async () => {
    const sent = Buffer.alloc(64 << 20, Buffer.from([0, 255, 10, 13, 4, 128, 3]));
    const { exitCode, out } = await collect(await pod().exec('cat', { stdin: true }), Readable.from([sent]));
    assert.equal(exitCode, 0);
    assert.ok(out.equals(sent));
  });

  test('a command on a terminal gets its size and its changes', async () => {
    const until = (size: string) => `until stty size | grep -q '${size}'; do sleep 0.05; done`;
    // discards standard error, because busybox's stty prints an error as long as the terminal has no size
    const script = `exec 2>/dev/null; ${until('33 99')}; echo first; ${until('40 120')}; read line; echo "read $line"; exit 5`;
    const url = await pod().exec(script, { stdin: true, stderr: false, tty: true });
    let setSize: (size: TerminalSize) => void = () => undefined;
    const resize = (listener: typeof setSize) => {
      setSize = listener;
      listener({ Width: 99, Height: 33 });
      return { [Symbol.dispose]: () => undefined };
    };
    const visitor = new Visitor(url, { stdin: true, tty: true, resize });
    await eventually(() => visitor.output.includes('first'));
    setSize({ Width: 120, Height: 40 });
    visitor.stdin.write('words\n');
    assert.equal(await visitor.ended, 5);
    assert.match(visitor.output, /read words\r\n$/);
  });

  test('a missing command is reported with its name, as an error or with the exit code of a shell', async () => {
    const request = { containerId: pod().main, cmd: ['nosuch'], stdin: false, stdout: true, stderr: true, tty: false };
    const { url } = await pod().runtime.cri.runtime.exec(request);
    const said = await collect(url).then(({ exitCode, err }) => {
      assert.equal(exitCode, 127);
      return err;
    }, String);
    assert.match(said, /nosuch/);
  });

  test('a URL is valid once, and only for its kind of stream', async () => {
    const url = await pod().exec('true');
    assert.equal((await collect(url)).exitCode, 0);
    await assert.rejects(collect(url), { code: 'not_found' });
    await assert.rejects(collect(url.replace(/[^/]*$/, 'guessed')), { code: 'not_found' });
  });

  test('a command runs through a proxy', async () => {
    const target = await pod().exec('cat; exit 7', { stdin: true });
    const proxy = createServer().listen(0, '127.0.0.1');
    proxy.on('upgrade', (request, socket, head) => proxyUpgrade(request, { socket, head }, { url: target }));
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const sent = Buffer.alloc(5 << 20, 'proxy');
    const { exitCode, out } = await collect(`http://127.0.0.1:${port}/`, Readable.from([sent]));
    assert.deepEqual([exitCode, out.equals(sent)], [7, true]);
    proxy.close();
  });
}

function attachTests(pod: () => StreamingPod): void {
  test('an attached client exchanges data with the container, which keeps running after it detaches', async () => {
    for (const word of ['one', 'two']) {
      const visitor = new Visitor(await pod().attach(pod().main, { stdin: true }), { stdin: true });
      visitor.stdin.write(`${word}\n`);
      await eventually(() => visitor.output === `got ${word}\n`);
      visitor.leave();
      await assert.rejects(visitor.ended, /the visitor left/);
    }
  });

  test('two attached clients get the same output, and one loses nothing when the other detaches', async () => {
    const come = async () => new Visitor(await pod().attach(pod().main, { stdin: true }), { stdin: true });
    const [first, second] = [await come(), await come()];
    // write repeatedly, because the second client does not get output from before it attached
    const writing = setInterval(() => first.stdin.write('both\n'), 200);
    const bothReceived = () => [first, second].every(({ output }) => output.includes('got both\n'));
    await eventually(bothReceived).finally(() => clearInterval(writing));
    first.leave();
    second.stdin.write('alone\n');
    await eventually(() => second.output.includes('got alone\n'));
    second.leave();
  });

  test('attached clients get the output of a container without input, even if they send input', async () => {
    // print repeatedly, because a client does not get output from before it attached
    const id = await pod().container('until [ -e /go ]; do sleep 0.05; done; while :; do echo went; sleep 0.2; done');
    const visitor = new Visitor(await pod().attach(id, { stdin: true }), { stdin: true });
    visitor.stdin.write(Buffer.alloc(1 << 20, 'typed\n'));
    const { runtime } = pod().runtime.cri;
    await runtime.execSync({ containerId: id, cmd: ['touch', '/go'], timeout: 60n });
    await eventually(() => visitor.output.includes('went\n'));
    visitor.leave();
    await runtime.removeContainer({ containerId: id });
  });

  test('an attached client gets the last output of the container and its end; later attachments fail', async () => {
    const { lingerSeconds = 0 } = pod().runtime;
    const id = await pod().container(`read line; echo "bye $line"; sleep ${lingerSeconds}; exit 3`, { stdin: true });
    const visitor = new Visitor(await pod().attach(id, { stdin: true }), { stdin: true });
    visitor.stdin.write('all\n');
    assert.equal(await visitor.ended, 0, 'the exit code of the session, not of the container');
    assert.equal(visitor.output, 'bye all\n');
    const { runtime } = pod().runtime.cri;
    const late = { containerId: id, stdin: false, stdout: true, stderr: true, tty: false };
    const exited = async () => {
      const { status } = await runtime.containerStatus({ containerId: id });
      return status?.state === ContainerState.CONTAINER_EXITED || undefined;
    };
    await waitFor(exited, { intervalMs: 20, signal: AbortSignal.timeout(boundMs) });
    await assert.rejects(async () => runtime.attach(late));
    await assert.rejects(async () => runtime.exec({ ...late, cmd: ['true'] }));
    await assert.rejects(async () => runtime.execSync({ containerId: id, cmd: ['true'], timeout: 0n }));
    await runtime.removeContainer({ containerId: id });
  });

  test('an attached terminal passes input, and gets the size of the client', async () => {
    const id = await pod().container(
      'exec 2>/dev/null; until stty size | grep "33 99"; do sleep 0.05; done; read line; echo "read $line"',
      { stdin: true, tty: true },
    );
    const resize = (listener: (size: TerminalSize) => void) => {
      listener({ Width: 99, Height: 33 });
      return { [Symbol.dispose]: () => undefined };
    };
    const asked = { stdin: true, stderr: false, tty: true };
    const visitor = new Visitor(await pod().attach(id, asked), { ...asked, resize });
    visitor.stdin.write('words\n');
    assert.equal(await visitor.ended, 0);
    assert.match(visitor.output, /read words\r\n$/);
    await pod().runtime.cri.runtime.removeContainer({ containerId: id });
  });
}

function portForwardTests(pod: () => StreamingPod): void {
  test('forty connections are forwarded, eight at once; one to a closed port is an error, and the others continue', async () => {
    const { podSandboxId, httpPort, runtime } = pod();
    const { url } = await runtime.cri.runtime.portForward({ podSandboxId, port: [httpPort] });
    using forwarder = new PortForwarder({ url });
    const errors: string[] = [];
    let podPort = httpPort;
    const listener = createTcpServer({ allowHalfOpen: true }, (socket) =>
      forwarder.forward(socket, podPort).catch((error: Error) => errors.push(error.message)),
    ).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const get = async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.end('GET /hostname HTTP/1.0\r\n\r\n');
      return text(socket).catch(String);
    };
    const answers: string[] = [];
    // eight at a time, because busybox's httpd has a backlog of nine, and the kernel may reset connections beyond that
    for (let round = 0; round < 5; round++) answers.push(...(await Promise.all(Array.from({ length: 8 }, get))));
    for (const answer of answers) assert.match(answer, /200 OK[\s\S]*\r\n\r\nstreams\n$/, `${answer}${errors}`);
    podPort = 1;
    await get();
    await eventually(() => errors.length > 0);
    assert.match(errors[0]!, /refused/i);
    podPort = httpPort;
    assert.match(await get(), /200 OK/, 'over the same connection to the runtime');
    listener.close();
  });
}

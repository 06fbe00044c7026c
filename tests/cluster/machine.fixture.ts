/** Simulated machines on one network. Each has its own /etc, /run, /var, processes and network (`PrivateHost`). */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { waitFor, withTimeout } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { PrivateHost } from '../../scripts/private-host.ts';
import type { Bundle } from '../pods/bundle.fixture.ts';
import { type Ended, StartedProgram } from '../pods/started-program.ts';

/** The machines' addresses are 10.175.77.1, 10.175.77.2, … The first machine is the switch for the others. */
const NETWORK = '10.175.77';
const SWITCH = 'lan';
/** Returns the pod network of a machine: 10.176.1.0/24, 10.176.2.0/24, … */
const podNetwork = (number: number): string => `10.176.${number}.0/24`;
const PATIENCE_MS = 120_000;

export class Machine implements AsyncDisposable {
  readonly name: string;
  readonly number: number;
  readonly address: string;
  readonly subnet: string;
  readonly #host: PrivateHost;
  readonly #path: string;

  private constructor(host: PrivateHost, bundle: Bundle, number: number) {
    this.#host = host;
    this.number = number;
    this.name = `machine${number}`;
    this.address = `${NETWORK}.${number}`;
    this.subnet = podNetwork(number);
    const bin = join(dirname(bundle.program), '../bin');
    mkdirSync(bin, { recursive: true });
    copyFileSync(new URL('../../bin/podwright', import.meta.url), join(bin, 'podwright'));
    this.#path = [bin, dirname(process.execPath), process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter);
  }

  /** Starts machines that can reach each other and, via routes, each other's pods. */
  static async startAll(bundle: Bundle, count: number): Promise<Machine[]> {
    const machines: Machine[] = [];
    try {
      for (let number = 1; number <= count; number++)
        machines.push(new Machine(await PrivateHost.start(), bundle, number));
      await connect(machines);
      return machines;
    } catch (error) {
      for (const machine of machines) await machine[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A directory with the same path inside and outside the machine. */
  get directory(): string {
    return this.#host.directory;
  }

  get cgroupParent(): string {
    return this.#host.cgroupParent;
  }

  get pid(): number {
    return this.#host.pid;
  }

  path(...names: string[]): string {
    return join(this.directory, ...names);
  }

  /** Writes a file to the machine's directory and returns its path. */
  file(name: string, text: string): string {
    writeFileSync(this.path(name), text, { mode: 0o600 });
    return this.path(name);
  }

  command(...words: string[]): string[] {
    return this.#host.command(this.directory, ...words);
  }

  /** Starts a daemon, to be stopped with `kill`. Its output goes to `NAME.log`. */
  start(name: string, ...words: string[]): void {
    const script = `echo $$ > ${name}.pid; exec "$0" "$@" >> ${name}.log 2>&1`;
    new StartedProgram(this.command('sh', '-c', script, ...words), { env: { PATH: this.#path } });
  }

  log(name: string): string {
    return readFileSync(this.path(`${name}.log`), 'utf8');
  }

  async kill(name: string, signal = 'KILL'): Promise<void> {
    const script = `pid=$(cat ${name}.pid); kill -${signal} $pid; while kill -0 $pid; do sleep 0.05; done`;
    await this.call('sh', '-c', `${script} 2> /dev/null`);
  }

  async call(...words: string[]): Promise<Ended> {
    const program = new StartedProgram(this.command(...words), { env: { PATH: this.#path, HOME: this.directory } });
    program.child.stdin!.end();
    return await program.ended();
  }

  /** Runs a command on the machine, which must succeed, and returns its output. */
  async ok(...words: string[]): Promise<string> {
    const { code, out, err } = await this.call(...words);
    if (code !== 0) throw new Error(`${words.join(' ')}: exit code ${code}\n${out}\n${err}`);
    return out;
  }

  /** Repeats a command on the machine until its output passes the check, and returns that output. */
  async until(check: (out: string) => boolean, ...words: string[]): Promise<string> {
    let last: Ended | undefined;
    using signal = withTimeout(undefined, PATIENCE_MS, `wait for ${words.join(' ')}`);
    const look = async () => {
      last = await this.call(...words);
      return last.code === 0 && check(last.out) ? last.out : undefined;
    };
    return await waitFor(look, { intervalMs: 200, signal }).catch((error: unknown) => {
      throw new Error(`${error}: ${check}: ${last?.out} ${last?.err}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host[Symbol.asyncDispose]();
  }
}

/** Connects the machines to a bridge on the first one. The interfaces disappear along with the machines. */
async function connect(machines: readonly Machine[]): Promise<void> {
  const hosts = machines.map(({ name, address }) => `echo ${address} ${name} >> /etc/hosts`).join('\n');
  for (const machine of machines) await machine.ok('sh', '-ec', hosts);
  const [first, ...others] = machines;
  const inFirst = (script: string) => first!.ok('sh', '-ec', script);
  await inFirst(`ip link add ${SWITCH} type bridge; ip address add ${first!.address}/24 dev ${SWITCH}
    ip link set ${SWITCH} up; ip route add default via ${NETWORK}.254`);
  for (const machine of others) {
    const port = `port${machine.number}`;
    const own = ['netns', String(machine.pid)];
    const peer = ['type', 'veth', 'peer', 'name', 'eth0', ...own];
    await runChecked('ip', ['link', 'add', port, 'netns', String(first!.pid), ...peer]);
    await inFirst(`ip link set ${port} master ${SWITCH} up; ip route add ${machine.subnet} via ${machine.address}`);
    const routes = machines
      .filter((one) => one !== machine)
      .map(({ subnet, address }) => `ip route add ${subnet} via ${address}`);
    await machine.ok(
      ...['sh', '-ec'],
      `sysctl -qw net.ipv4.ip_forward=1; ip address add ${machine.address}/24 dev eth0; ip link set eth0 up; ip route add default via ${NETWORK}.254
      ${routes.join('\n')}`,
    );
  }
}

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler in a scratch directory, on free ports; stopped by PID. */

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor, withTimeout } from '@podwright/base';
import {
  CertificateAuthority,
  type KeyPair,
} from '../../packages/api-server/src/certificates/certificate-authority.ts';
import { freePort } from '../pods/node.fixture.ts';
import { type Credential, kubeconfigOf } from './credential.ts';
import { RawClient } from './raw-client.fixture.ts';

/** Generous timeout, to allow for two busy cores. */
const PATIENCE_MS = 120_000;

export type ControlPlaneBinaries = { directory: string; etcd: string };

/**
 * `isAlone`: run without controllers and scheduler. `isDurable`: etcd syncs writes to disk before it responds. `managerFlags`: additional
 * kube-controller-manager flags, which override the defaults.
 */
export type ControlPlaneOptions = {
  isAlone?: boolean;
  isDurable?: boolean;
  hasScheduler?: boolean;
  /** Service IP range. Default: 10.96.0.0/16. */
  serviceRange?: string;
  managerFlags?: string[];
};

export class RealControlPlane {
  #authority!: CertificateAuthority;
  readonly #binaries: ControlPlaneBinaries;
  readonly #options: ControlPlaneOptions;
  readonly #directory = mkdtempSync('/tmp/pwcp-');
  readonly #children: ChildProcess[] = [];
  #port = 0;
  /** Time from starting the kube-apiserver process until it is ready. */
  serverStartMs = 0;

  constructor(binaries: ControlPlaneBinaries, options: ControlPlaneOptions = {}) {
    this.#binaries = binaries;
    this.#options = options;
  }

  /** PIDs of the control plane's programs; `setpriv` execs each program in its own process. */
  get pids(): number[] {
    return this.#children.map(({ pid }) => pid!);
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get certificateAuthority(): string {
    return this.#authority.certificate;
  }

  certificate(commonName: string, organizations: string[]): Credential {
    return { kind: 'certificate', ...this.#authority.client({ commonName, organizations }) };
  }

  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      const logs = ['etcd', 'kube-apiserver'].map((name) => this.#log(name)).join('\n');
      await this.stop();
      throw new Error(`the control plane did not start: ${logs}`, { cause: error });
    }
  }

  async #start(): Promise<void> {
    this.#port = await freePort();
    this.#authority = await CertificateAuthority.open(this.#path('authority'), Date.now);
    this.#writeKeys();
    const etcd = `http://127.0.0.1:${await freePort()}`;
    const { isAlone = false, isDurable = false, hasScheduler = true, managerFlags = [] } = this.#options;
    const unsafe = isDurable ? [] : ['--unsafe-no-fsync=true'];
    const etcdArgs = etcdFlags(this.#path('etcd-data'), etcd, await freePort());
    this.#run('etcd', this.#binaries.etcd, [...etcdArgs, ...unsafe]);
    const others = process.env.PODWRIGHT_API_SERVER_FLAGS?.split(' ') ?? [];
    this.#run('kube-apiserver', this.#binary('kube-apiserver'), [...this.#serverFlags(etcd), ...others]);
    const beginMs = performance.now();
    await this.#untilReady();
    this.serverStartMs = performance.now() - beginMs;
    if (isAlone) return;
    const admin = ['--kubeconfig', this.#path('admin.json'), '--leader-elect=false', '--secure-port=0'];
    const ofManager = [...admin, ...this.#managerFlags(), ...managerFlags];
    this.#run('kube-controller-manager', this.#binary('kube-controller-manager'), ofManager);
    if (hasScheduler) this.#run('kube-scheduler', this.#binary('kube-scheduler'), admin);
  }

  /** Stops all programs of the control plane in reverse order, and removes their directory. */
  async stop(): Promise<void> {
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #binary(name: string): string {
    return join(this.#binaries.directory, name);
  }

  #log(name: string): string {
    return readFileSync(this.#path(`${name}.log`), 'utf8').slice(-2000);
  }

  #run(name: string, program: string, flags: string[]): void {
    const log = openSync(this.#path(`${name}.log`), 'a');
    // The kernel kills the programs when this process exits, for whatever reason.
    const command = ['--pdeathsig', 'KILL', program, ...flags];
    this.#children.push(spawn('setpriv', command, { stdio: ['ignore', log, log], cwd: this.#directory }));
  }

  #writeKeys(): void {
    mkdirSync(this.#path('etcd-data'), { mode: 0o700 });
    const write = (name: string, text: string) => writeFileSync(this.#path(name), text, { mode: 0o600 });
    const pair = (name: string, { certificate, key }: KeyPair) => {
      write(`${name}.crt`, certificate);
      write(`${name}.key`, key);
    };
    const { certificate } = this.#authority;
    pair('ca', {
      certificate,
      key: readFileSync(this.#path('authority/authority.pem'), 'utf8').slice(certificate.length),
    });
    pair('server', this.#authority.server(['127.0.0.1', 'localhost', 'kubernetes', '10.96.0.1']));
    const organizations = ['system:masters'];
    pair('kubelet-client', this.#authority.client({ commonName: 'kube-apiserver-kubelet-client', organizations }));
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    write('accounts.key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    write('accounts.pub', publicKey.export({ type: 'spki', format: 'pem' }).toString());
    write('admin.json', kubeconfigOf(this, this.certificate('kubernetes-admin', organizations)));
  }

  #serverFlags(etcd: string): string[] {
    const file = (name: string) => this.#path(name);
    return flags({
      'etcd-servers': etcd,
      'secure-port': this.#port,
      'bind-address': '127.0.0.1',
      'endpoint-reconciler-type': 'none',
      'service-cluster-ip-range': this.#options.serviceRange ?? '10.96.0.0/16',
      'tls-cert-file': file('server.crt'),
      'tls-private-key-file': file('server.key'),
      'client-ca-file': file('ca.crt'),
      'kubelet-client-certificate': file('kubelet-client.crt'),
      'kubelet-client-key': file('kubelet-client.key'),
      'kubelet-preferred-address-types': 'InternalIP,Hostname',
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': file('accounts.pub'),
      'service-account-signing-key-file': file('accounts.key'),
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': 'NodeRestriction',
      'enable-bootstrap-token-auth': 'true',
      'allow-privileged': 'true',
    });
  }

  #managerFlags(): string[] {
    const file = (name: string) => this.#path(name);
    return flags({
      'cluster-signing-cert-file': file('ca.crt'),
      'cluster-signing-key-file': file('ca.key'),
      'root-ca-file': file('ca.crt'),
      'service-account-private-key-file': file('accounts.key'),
      controllers: '*,bootstrapsigner,tokencleaner',
    });
  }

  async #untilReady(): Promise<void> {
    using signal = withTimeout(undefined, PATIENCE_MS, 'wait for kube-apiserver');
    const admin = this.certificate('kubernetes-admin', ['system:masters']);
    const isReady = async () => {
      if (this.#children.some((child) => child.exitCode !== null)) throw new Error('a program has exited');
      const client = new RawClient(this, admin);
      const answer = await client.get('/readyz').catch(() => undefined);
      client.close();
      return answer?.status === 200 ? true : undefined;
    };
    await waitFor(isReady, { intervalMs: 50, signal });
  }
}

function etcdFlags(directory: string, client: string, peerPort: number): string[] {
  const peer = `http://127.0.0.1:${peerPort}`;
  return flags({
    'data-dir': directory,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  });
}

const flags = (given: Record<string, string | number>): string[] =>
  Object.entries(given).map(([name, value]) => `--${name}=${value}`);

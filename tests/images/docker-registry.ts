import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { waitFor, withTimeout } from '@podwright/base';

export type Certificates = { ca: string; certificate: string; key: string };

/** Registry settings. Default: plain HTTP, anonymous read and write access. */
export type RegistrySettings = {
  tls?: Certificates;
  /** Path of a CA; clients must present a certificate signed by it. */
  clientCa?: string;
  /** Requires basic authentication as `me` with the password `secret`. */
  password?: boolean;
  /** Requires tokens issued by a server at `realm` and signed with a certificate from the CA in `rootCertificates`. */
  token?: { realm: string; service: string; issuer: string; rootCertificates: string };
};

/** htpasswd line with the bcrypt hash of `secret`. */
const passwordLine = 'me:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n';

/** Runs Debian's docker-registry on a free loopback port, with its files in the test's directory. */
export class DockerRegistry implements AsyncDisposable {
  readonly host: string;
  readonly #process: ChildProcess;

  private constructor(host: string, process: ChildProcess) {
    this.host = host;
    this.#process = process;
  }

  static async start(directory: string, settings: RegistrySettings = {}): Promise<DockerRegistry> {
    const port = await freePort();
    const config = join(directory, `registry-${port}.yml`);
    writeFileSync(join(directory, 'htpasswd'), passwordLine);
    writeFileSync(config, JSON.stringify(configuration(directory, port, settings))); // JSON is YAML
    const process = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
    const registry = new DockerRegistry(`127.0.0.1:${port}`, process);
    using signal = withTimeout(undefined, 10_000, 'start docker-registry');
    await waitFor(() => answers(port, settings.tls !== undefined), { intervalMs: 20, signal });
    return registry;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }
}

function configuration(directory: string, port: number, { tls, clientCa, password, token }: RegistrySettings): object {
  return {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(directory, 'registry') } },
    http: {
      addr: `127.0.0.1:${port}`,
      ...(tls && { tls: { certificate: tls.certificate, key: tls.key, ...(clientCa && { clientcas: [clientCa] }) } }),
    },
    ...(token && {
      auth: {
        token: {
          realm: token.realm,
          service: token.service,
          issuer: token.issuer,
          rootcertbundle: token.rootCertificates,
        },
      },
    }),
    ...(password && { auth: { htpasswd: { realm: 'test', path: join(directory, 'htpasswd') } } }),
  };
}

/** Returns true once the server accepts connections, even if it rejects clients without a certificate. */
async function answers(port: number, secure: boolean): Promise<true | undefined> {
  if (!secure) {
    return fetch(`http://127.0.0.1:${port}/v2/`).then(
      () => true,
      () => undefined,
    );
  }
  return new Promise((resolve) => {
    const probe = request({ host: '127.0.0.1', port, path: '/v2/', rejectUnauthorized: false, agent: false });
    probe.on('response', (response) => {
      response.resume();
      resolve(true);
    });
    probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? undefined : true));
    probe.end();
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Uses openssl to create a CA and a certificate signed by it, for a server at 127.0.0.1 or for a client. */
export function makeCertificates(directory: string, name: string): Certificates {
  const path = (suffix: string) => join(directory, `${name}-${suffix}`);
  const openssl = (...options: string[]) => execFileSync('openssl', options, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...key, '-subj', `/CN=${name} CA`, '-keyout', path('ca.key'), '-out', path('ca.pem'));
  openssl(
    ...['req', '-x509', ...key, '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-addext', 'basicConstraints=critical,CA:FALSE', '-CA', path('ca.pem'), '-CAkey', path('ca.key')],
    ...['-keyout', path('key.pem'), '-out', path('cert.pem')],
  );
  return { ca: path('ca.pem'), certificate: path('cert.pem'), key: path('key.pem') };
}

/** The kubelet's identity in its cluster: a kubeconfig, and a client certificate signed by the cluster. */
import { errorMessage, type Logger, PodwrightError, type Registry } from '@podwright/base';
import {
  type ClusterAccess,
  createKubeClient,
  type KubeClient,
  type Kubeconfig,
  readKubeconfig,
  type TlsOptions,
} from '@podwright/kube-client';
import { certificateMetrics } from './certificate-metrics.ts';
import { certificatesIn } from './certificate-pair.ts';
import { CertificateRenewal } from './certificate-renewal.ts';
import { nodeSubject } from './certificate-request.ts';
import { CertificateStore } from './certificate-store.ts';
import { writeKubeconfig } from './node-kubeconfig.ts';

export type NodeIdentityOptions = {
  nodeName: string;
  kubeconfig: string;
  /** Kubeconfig for the initial certificate request. `kubeconfig` is written once that certificate has been issued. */
  bootstrapKubeconfig?: string;
  /** Directory in which the client certificate is stored. */
  certDirectory: string;
  /** Whether to renew the client certificate. If false, only the initial one is requested. */
  rotate: boolean;
  metrics?: Registry;
  logger: Logger;
};

/** Creates a Kubernetes client with these access options. Tests pass a function that returns a fake client. */
type Connect = (access: ClusterAccess) => KubeClient;

/**
 * Loads the identity and keeps its certificate up to date in the background. Until a certificate is available, client calls reject with
 * `unavailable`. Rejects with `invalid_argument` if a file is invalid.
 */
export async function openNodeIdentity(
  options: NodeIdentityOptions,
  connect: Connect = createKubeClient,
): Promise<NodeIdentity> {
  const { kubeconfig, bootstrapKubeconfig: bootstrap, logger } = options;
  const isFirst = bootstrap !== undefined && !(await isUsable(kubeconfig, logger));
  const source = await readKubeconfig(isFirst ? bootstrap : kubeconfig, { log: logger });
  const identity = new NodeIdentity(options, { source, isFirst, connect });
  await identity.start();
  return identity;
}

/** Whether the file is a kubeconfig whose client certificate has not expired (upstream's isClientConfigStillValid). */
async function isUsable(path: string, logger: Logger): Promise<boolean> {
  try {
    const { certificate } = await (await readKubeconfig(path)).tls();
    if (certificate === undefined)
      throw new PodwrightError('invalid_argument', `${path}: it has no client certificate`);
    const late = certificatesIn(path, String(certificate)).find(
      ({ validToDate }) => validToDate.getTime() < Date.now(),
    );
    if (late === undefined) return true;
    const when = late.validToDate.toISOString();
    throw new PodwrightError('invalid_argument', `${path}: its client certificate ran out on ${when}`);
  } catch (error) {
    logger.info({ reason: errorMessage(error) }, 'using the bootstrap kubeconfig, as the kubeconfig is unusable');
    return false;
  }
}

const NO_WAY_BACK =
  'there is no valid client certificate: put a valid token into the bootstrap kubeconfig (bootstrapKubeconfig), or a kubeconfig with other credentials';

type Source = {
  /** The kubeconfig or, if `isFirst`, the bootstrap kubeconfig, which is used only for the initial certificate request. */
  source: Kubeconfig;
  isFirst: boolean;
  connect: Connect;
};

export class NodeIdentity {
  readonly #options: NodeIdentityOptions;
  readonly #from: Source;
  readonly #store: CertificateStore;
  readonly #clients: KubeClient[] = [];
  readonly #following: Disposable;
  #renewal: CertificateRenewal | undefined;
  #requestClient: KubeClient | undefined;
  #hasRequested = false;
  #loggedReason: string | undefined;

  constructor(options: NodeIdentityOptions, from: Source) {
    this.#options = options;
    this.#from = from;
    this.#store = new CertificateStore(options.certDirectory, 'kubelet-client');
    this.#following = from.source.follow(() => this.#reconnect());
  }

  async start(): Promise<void> {
    const { rotate, nodeName, logger } = this.#options;
    const { source, isFirst } = this.#from;
    if (!rotate && !isFirst) return;
    if (!isFirst) await this.#adopt();
    const subject = nodeSubject(nodeName);
    if (isFirst) this.#requestClient = this.#open(source);
    const renewed = this.connect();
    const metrics = certificateMetrics(this.#options.metrics, 'client', () => this.#renewal?.expiresAtMs);
    const renewal = new CertificateRenewal({
      store: this.#store,
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      subject: () => (rotate || renewal.current() === undefined ? subject : undefined),
      client: (hasValid) => (hasValid ? renewed : this.#bootstrapClient()),
      onRenewed: async () => {
        this.#reconnect(); // otherwise open connections would keep the old certificate
        await this.#write();
      },
      onFailure: metrics.failed,
      logger,
    });
    this.#renewal = renewal;
    await renewal.start();
    if (renewal.current() !== undefined) await this.#write(); // a kubelet may have been killed before it wrote the file
  }

  /**
   * Returns a client with this identity and its own connections. It picks up renewed certificates and is closed along with the identity.
   */
  connect(): KubeClient {
    const { source } = this.#from;
    return this.#open({
      server: source.server,
      tls: () => this.#tls(),
      authorization: {
        header: (signal) => (this.#isSigned() ? undefined : source.authorization.header(signal)),
        refused: async (header) => !this.#isSigned() && ((await source.authorization.refused?.(header)) ?? false),
      },
    });
  }

  async close(): Promise<void> {
    await this.#renewal?.stop();
    this.#following[Symbol.dispose]();
    for (const client of this.#clients) client.close();
  }

  /**
   * Returns the client used to request certificates while there is no valid one. Rereads the bootstrap kubeconfig on every attempt but the
   * first: unlike upstream's kubelet, which exits when its certificate expires, this process keeps running and must pick up a token added
   * later.
   */
  async #bootstrapClient(): Promise<KubeClient> {
    const { bootstrapKubeconfig: path, logger } = this.#options;
    const isAgain = this.#hasRequested || !this.#from.isFirst;
    this.#hasRequested = true;
    if (path !== undefined && isAgain) {
      try {
        const access = await readKubeconfig(path, { log: logger });
        this.#close(this.#requestClient);
        this.#requestClient = this.#open(access);
        this.#loggedReason = undefined;
        logger.info({ path }, 'requesting a client certificate with the bootstrap kubeconfig');
      } catch (error) {
        this.#logOnce(errorMessage(error));
      }
    } else if (isAgain && this.#requestClient === undefined) this.#logOnce('there is no bootstrap kubeconfig');
    this.#requestClient ??= this.#open(this.#from.source);
    return this.#requestClient;
  }

  /**
   * Logs once why no certificate can be requested. If the identity was loaded from the bootstrap kubeconfig, the message also asks for a
   * kubelet restart, because new credentials in `kubeconfig` would not be picked up.
   */
  #logOnce(error: string): void {
    if (error === this.#loggedReason) return;
    this.#loggedReason = error;
    const message = this.#from.isFirst ? `${NO_WAY_BACK}, and restart the kubelet` : NO_WAY_BACK;
    this.#options.logger.error({ error }, message);
  }

  #close(client: KubeClient | undefined): void {
    const at = client === undefined ? -1 : this.#clients.indexOf(client);
    if (at !== -1) this.#clients.splice(at, 1)[0]!.close();
  }

  #open(access: ClusterAccess): KubeClient {
    const client = this.#from.connect(access);
    this.#clients.push(client);
    return client;
  }

  #isSigned(): boolean {
    return this.#from.isFirst || this.#renewal?.current() !== undefined;
  }

  async #tls(): Promise<TlsOptions> {
    const { certificate: _, key: __, ...server } = await this.#from.source.tls();
    const current = this.#renewal?.current();
    if (current !== undefined) return { ...server, certificate: current.certificate, key: current.key };
    if (!this.#from.isFirst) return this.#from.source.tls();
    const why = this.#renewal?.problem() ?? 'it is requested, and waits for approval and signature';
    throw new PodwrightError('unavailable', `there is no client certificate for the API server: ${why}`);
  }

  /**
   * Imports the client certificate that kubeadm embeds in a control plane node's kubeconfig into the store, so that it is renewed like any
   * other.
   */
  async #adopt(): Promise<void> {
    const stored = await this.#store.current();
    if (stored !== undefined && stored.notAfterMs > Date.now()) return;
    const { certificate, key } = await this.#from.source.tls();
    if (typeof certificate === 'string' && typeof key === 'string') await this.#store.update({ certificate, key });
  }

  /** If started from the bootstrap kubeconfig, writes a kubeconfig that refers to the stored certificate. */
  async #write(): Promise<void> {
    const { isFirst, source } = this.#from;
    if (!isFirst) return;
    const path = this.#store.currentPath;
    await writeKubeconfig(this.#options.kubeconfig, {
      server: source.server,
      tls: await source.tls(),
      user: { 'client-certificate': path, 'client-key': path },
    });
  }

  #reconnect(): void {
    for (const client of this.#clients) client.reconnect();
  }
}

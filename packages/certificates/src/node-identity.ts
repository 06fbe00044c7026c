/** Who a kubelet is to its cluster: a kubeconfig, and the client certificate that the cluster signs for it. */
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
  /** Asks for the first certificate; `kubeconfig` is written once it is there. */
  bootstrapKubeconfig?: string;
  /** Where certificates are kept. */
  certDirectory: string;
  /** Whether the client certificate is renewed; without it only a first one is asked for. */
  rotate: boolean;
  metrics?: Registry;
  logger: Logger;
};

/** How clients are made: tests have others. */
type Connect = (access: ClusterAccess) => KubeClient;

/**
 * Opens the identity that the options name. What the API server is needed for goes on in the background: until there is a
 * certificate, calls of the clients reject with `unavailable`. Rejects with `invalid_argument` for files that are broken.
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

/** Whether the file is a kubeconfig with a client certificate that is valid still (upstream's isClientConfigStillValid). */
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
    logger.info({ reason: errorMessage(error) }, 'the bootstrap kubeconfig is used, as the kubeconfig cannot be');
    return false;
  }
}

const NO_WAY_BACK =
  'there is no valid client certificate: put a token that is valid into the bootstrap kubeconfig (bootstrapKubeconfig), or a kubeconfig with other credentials';

type Source = {
  /** The kubeconfig, or with `isFirst` the bootstrap one, whose user is used for the first certificate alone. */
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
  /** Asks for certificates while there is none that is valid. */
  #asking: KubeClient | undefined;
  #hasAsked = false;
  /** Why nobody can ask, as it was logged last. */
  #toldWhy: string | undefined;

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
    if (isFirst) this.#asking = this.#open(source);
    const renewed = this.connect();
    const metrics = certificateMetrics(this.#options.metrics, 'client', () => this.#renewal?.expiresAtMs);
    const renewal = new CertificateRenewal({
      store: this.#store,
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      subject: () => (rotate || renewal.current() === undefined ? subject : undefined),
      client: (hasValid) => (hasValid ? renewed : this.#askAnew()),
      onRenewed: async () => {
        this.#reconnect(); // or calls would go on under the certificate before
        await this.#write();
      },
      onFailure: metrics.failed,
      logger,
    });
    this.#renewal = renewal;
    await renewal.start();
    if (renewal.current() !== undefined) await this.#write(); // a kubelet may have been ended before it did
  }

  /** A client of its own connections under this identity, whose certificate may change. Closed with the identity. */
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
   * Who asks while no certificate is valid. The bootstrap kubeconfig is read for each try but the first: a process that outlives its
   * certificate, where upstream's ends itself to be started anew, takes the token that somebody puts there.
   */
  async #askAnew(): Promise<KubeClient> {
    const { bootstrapKubeconfig: path, logger } = this.#options;
    const isAgain = this.#hasAsked || !this.#from.isFirst;
    this.#hasAsked = true;
    if (path !== undefined && isAgain) {
      try {
        const access = await readKubeconfig(path, { log: logger });
        this.#close(this.#asking);
        this.#asking = this.#open(access);
        this.#toldWhy = undefined;
        logger.info({ path }, 'there is no valid client certificate: asking for one by the bootstrap kubeconfig');
      } catch (error) {
        this.#tellOnce(errorMessage(error));
      }
    } else if (isAgain && this.#asking === undefined) this.#tellOnce('there is no bootstrap kubeconfig');
    this.#asking ??= this.#open(this.#from.source);
    return this.#asking;
  }

  /** Other credentials are followed in the file that this process has begun by. */
  #tellOnce(error: string): void {
    if (error === this.#toldWhy) return;
    this.#toldWhy = error;
    const message = this.#from.isFirst ? `${NO_WAY_BACK}, and start the kubelet anew` : NO_WAY_BACK;
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
    const why = this.#renewal?.problem() ?? 'it has been asked for, and has to be approved and signed';
    throw new PodwrightError('unavailable', `there is no client certificate for the API server: ${why}`);
  }

  /** What kubeadm gives a control plane's kubelet stands in the kubeconfig itself: it is kept, and so renewed, like another. */
  async #adopt(): Promise<void> {
    const kept = await this.#store.current();
    if (kept !== undefined && kept.notAfterMs > Date.now()) return;
    const { certificate, key } = await this.#from.source.tls();
    if (typeof certificate === 'string' && typeof key === 'string') await this.#store.update({ certificate, key });
  }

  /** The kubeconfig, with the certificate that is kept. */
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

/**
 * Control plane for a test: Podwright's API server or, with PODWRIGHT_KUBERNETES_BIN (a directory that contains kube-apiserver,
 * kube-controller-manager and kube-scheduler) and PODWRIGHT_ETCD (the etcd binary), a real one. The interface is the same for both.
 */
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { waitFor, withTimeout } from '@podwright/base';
import type { KubeMetadata } from '@podwright/kube-api';
import { Schema } from '@podwright/kube-schema';
import { type Credential, kubeconfigOf } from './credential.ts';
import { OwnControlPlane } from './own-control-plane.fixture.ts';
import { type Answer, RawClient } from './raw-client.fixture.ts';
import { RealControlPlane } from './real-control-plane.fixture.ts';

type JsonObject = { [field: string]: unknown };

export type ApiObject = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & JsonObject;
  spec?: JsonObject;
  status?: JsonObject;
  [field: string]: unknown;
};

const MASTERS = 'system:masters';
const RBAC = 'rbac.authorization.k8s.io';
/** The group of users authenticated by a bootstrap token. */
const BOOTSTRAPPERS = 'system:bootstrappers';
/** Generous timeout, to allow for a busy host. */
const PATIENCE_MS = 60_000;

const schema = await Schema.load();

type ControlPlane = {
  readonly url: string;
  readonly certificateAuthority: string;
  certificate(commonName: string, organizations: string[]): Credential;
  stop(): Promise<void>;
};

/** The fields that identify a Kubernetes object. */
type Named = Pick<ApiObject, 'apiVersion' | 'kind' | 'metadata'>;

export class Cluster implements AsyncDisposable {
  readonly #plane: ControlPlane;
  readonly admin: RawClient;
  /** Podwright's API server, for fault injection and its record of requests; undefined for a real control plane. */
  readonly own: OwnControlPlane | undefined;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    this.own = plane instanceof OwnControlPlane ? plane : undefined;
    this.admin = new RawClient(plane, this.adminCredential());
  }

  get url(): string {
    return this.#plane.url;
  }

  /** The API server's CA certificate, PEM. */
  get certificateAuthority(): string {
    return this.#plane.certificateAuthority;
  }

  adminCredential(): Credential {
    return this.#plane.certificate('kubernetes-admin', [MASTERS]);
  }

  /** Issues a client certificate for a node. */
  nodeCredential(name: string): Credential {
    return this.#plane.certificate(`system:node:${name}`, ['system:nodes']);
  }

  certificate(commonName: string, organizations: string[]): Credential {
    return this.#plane.certificate(commonName, organizations);
  }

  kubeconfig(credential: Credential): string {
    return kubeconfigOf(this.#plane, credential);
  }

  client(credential?: Credential): RawClient {
    return new RawClient(this.#plane, credential);
  }

  async bootstrapToken(): Promise<Credential & { kind: 'token' }> {
    const [id, secret] = [randomBytes(3).toString('hex'), randomBytes(8).toString('hex')];
    const stringData = {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
    };
    const metadata = { name: `bootstrap-token-${id}`, namespace: 'kube-system' };
    await this.apply({ apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token', metadata, stringData });
    return { kind: 'token', token: `${id}.${secret}` };
  }

  /**
   * Enables token discovery, which joining nodes rely on. Returns the parameters printed by `kubeadm token create --print-join-command`.
   */
  async invite(): Promise<{ endpoint: string; token: string; hash: string }> {
    const { token } = await this.bootstrapToken();
    const metadata = { name: 'cluster-info', namespace: 'kube-public' };
    const info = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    if (this.own === undefined) await this.#publish(info);
    const signature = `jws-kubeconfig-${token.split('.')[0]}`;
    await this.until(info, ({ data }) => signature in ((data ?? {}) as object)); // by a controller
    const key = new X509Certificate(this.certificateAuthority).publicKey.export({ type: 'spki', format: 'der' });
    return {
      endpoint: new URL(this.url).host,
      token,
      hash: `sha256:${createHash('sha256').update(key).digest('hex')}`,
    };
  }

  /** Publishes what kubeadm publishes for joining nodes: the API server's address and CA. */
  async #publish(info: Named): Promise<void> {
    const cluster = {
      server: this.url,
      'certificate-authority-data': Buffer.from(this.certificateAuthority).toString('base64'),
    };
    const kubeconfig = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] });
    await this.apply({ ...info, data: { kubeconfig } });
    await this.#allowDiscovery();
  }

  /**
   * Lets anonymous users read cluster-info, and lets users with a bootstrap token read the kubelet configuration and check whether a node
   * name is taken.
   */
  async #allowDiscovery(): Promise<void> {
    const get = (resources: string[], resourceNames?: string[]) => [
      { apiGroups: [''], resources, verbs: ['get'], ...(resourceNames === undefined ? {} : { resourceNames }) },
    ];
    const allow = async (namespace: string | undefined, name: string, rules: object[], subject: object) => {
      const kind = namespace === undefined ? 'ClusterRole' : 'Role';
      const common = { apiVersion: `${RBAC}/v1`, metadata: { name, namespace } };
      const roleRef = { apiGroup: RBAC, kind, name };
      await this.apply({ ...common, kind, rules }, { ...common, kind: `${kind}Binding`, roleRef, subjects: [subject] });
    };
    const anonymous = { apiGroup: RBAC, kind: 'User', name: 'system:anonymous' };
    const bootstrappers = { apiGroup: RBAC, kind: 'Group', name: BOOTSTRAPPERS };
    await allow('kube-public', 'test-info', get(['configmaps'], ['cluster-info']), anonymous);
    await allow('kube-system', 'test-config', get(['configmaps'], ['kubelet-config']), bootstrappers);
    await allow(undefined, 'test-nodes', get(['nodes']), bootstrappers);
  }

  /**
   * Grants joining nodes what kubeadm or Podwright's API server grants them: they may request certificates, and the requests are approved
   * automatically.
   */
  async allowBootstrap(): Promise<void> {
    const bind = (name: string, role: string, group: string) =>
      this.apply({
        ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name } },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: RBAC, kind: 'Group', name: group }],
      });
    const approver = 'system:certificates.k8s.io:certificatesigningrequests';
    await bind('podwright:node-bootstrapper', 'system:node-bootstrapper', BOOTSTRAPPERS);
    await bind(APPROVAL.metadata.name, `${approver}:nodeclient`, BOOTSTRAPPERS);
    await bind('podwright:node-client-renewal', `${approver}:selfnodeclient`, 'system:nodes');
  }

  async apply(...objects: ApiObject[]): Promise<ApiObject[]> {
    const stored: ApiObject[] = [];
    for (const object of objects) {
      const created = await this.admin.create(collectionOf(object), object);
      const answer =
        created.body?.reason === 'AlreadyExists' ? await this.admin.update(pathOf(object), object) : created;
      if (answer.status >= 300) throw new Error(`${object.kind} ${object.metadata.name}: ${answer.text}`);
      stored.push(answer.body as ApiObject);
    }
    return stored;
  }

  async find(named: Named): Promise<ApiObject | undefined> {
    const answer = await this.admin.get(pathOf(named));
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new Error(`${pathOf(named)}: ${answer.text}`);
    return answer.body as ApiObject;
  }

  async until(named: Named, holds: (object: ApiObject) => boolean): Promise<ApiObject> {
    let last: ApiObject | undefined;
    const look = async () => {
      last = await this.find(named);
      return last !== undefined && holds(last) ? last : undefined;
    };
    using signal = withTimeout(undefined, PATIENCE_MS, `wait for ${pathOf(named)}`);
    return await waitFor(look, { intervalMs: 20, signal }).catch((error: unknown) => {
      throw new Error(`${pathOf(named)} is ${JSON.stringify(last)}, which does not meet ${holds}`, { cause: error });
    });
  }

  async untilGone(named: Named): Promise<void> {
    using signal = withTimeout(undefined, PATIENCE_MS, `wait for the end of ${pathOf(named)}`);
    await waitFor(async () => ((await this.find(named)) === undefined ? true : undefined), { intervalMs: 20, signal });
  }

  async delete(named: Named, options?: unknown): Promise<Answer> {
    return this.admin.delete(pathOf(named), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.admin.close();
    await this.#plane.stop();
  }
}

/** Returns the API path of the collection that an object belongs to, including its namespace. */
export function collectionOf({ apiVersion = 'v1', kind, metadata }: Named): string {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const found = schema.resources.find((one) => one.kind === kind && one.version === version && one.group === group);
  if (found === undefined) throw new Error(`unknown kind: ${apiVersion} ${kind}`);
  const root = group === '' ? `/api/${version}` : `/apis/${apiVersion}`;
  const place = found.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
  return `${root}${place}/${found.plural}`;
}

export const pathOf = (named: Named): string => `${collectionOf(named)}/${named.metadata.name}`;

/** While this binding exists, client certificate requests authenticated by a bootstrap token are approved automatically. */
export const APPROVAL = {
  ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding' },
  metadata: { name: 'podwright:node-client-approval' },
};

export async function startCluster(): Promise<Cluster> {
  const { PODWRIGHT_KUBERNETES_BIN: directory = '', PODWRIGHT_ETCD: etcd = '' } = process.env;
  if (directory === '') return (await startOwnCluster()).cluster;
  const plane = new RealControlPlane({ directory, etcd });
  await plane.start();
  const cluster = new Cluster(plane);
  await cluster.allowBootstrap();
  return cluster;
}

/** Starts a cluster on Podwright's API server, with fault injection and a record of requests. */
export async function startOwnCluster(): Promise<{ cluster: Cluster; own: OwnControlPlane }> {
  const own = await OwnControlPlane.start();
  return { cluster: new Cluster(own), own };
}

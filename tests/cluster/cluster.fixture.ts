/**
 * A control plane for a test: the API server of `api-server/`, or the real one with PODWRIGHT_KUBERNETES_BIN (a directory with
 * kube-apiserver, kube-controller-manager and kube-scheduler) and PODWRIGHT_ETCD (a program). Both have the same interface.
 */
import { createHash, createHmac, randomBytes, X509Certificate } from 'node:crypto';
import { waitFor, withTimeout } from '@podwright/base';
import { type ApiServer, type ApiServerOptions, startApiServer } from './api-server/api-server.ts';
import type { ApiObject } from './api-server/json.ts';
import { type Credential, kubeconfigOf } from './api-server/kubeconfig.ts';
import { kindOfObject } from './api-server/resource-kinds.ts';
import { type Answer, RawClient } from './raw-client.fixture.ts';
import { RealControlPlane } from './real-control-plane.fixture.ts';

const MASTERS = 'system:masters';
/** Generous, for a busy host. */
const PATIENCE_MS = 60_000;

type ControlPlane = {
  readonly url: string;
  readonly certificateAuthority: string;
  certificate(commonName: string, organizations: string[]): Credential;
  stop(): Promise<void>;
};

/** Identifies an object by its own fields. */
type Named = Pick<ApiObject, 'apiVersion' | 'kind' | 'metadata'>;

export class Cluster implements AsyncDisposable {
  readonly #plane: ControlPlane;
  /** A client with all rights. */
  readonly admin: RawClient;
  /** The tests' API server, for faults and for its request record; undefined with a real control plane. */
  readonly own: ApiServer | undefined;

  constructor(plane: ControlPlane, own?: ApiServer) {
    this.#plane = plane;
    this.own = own;
    this.admin = new RawClient(plane, this.adminCredential());
  }

  get url(): string {
    return this.#plane.url;
  }

  /** CA certificate of the API server, PEM. */
  get certificateAuthority(): string {
    return this.#plane.certificateAuthority;
  }

  adminCredential(): Credential {
    return this.#plane.certificate('kubernetes-admin', [MASTERS]);
  }

  /** A client certificate of a node. */
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

  /** A token with which a node may request its first certificate. */
  async bootstrapToken(): Promise<Credential & { kind: 'token' }> {
    if (this.own !== undefined) return this.own.bootstrapToken();
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

  /** The parameters that `kubeadm token create --print-join-command` prints; enables token discovery, by which nodes join. */
  async invite(): Promise<{ endpoint: string; token: string; hash: string }> {
    const { token } = await this.bootstrapToken();
    const endpoint = new URL(this.url).host;
    const cluster = {
      server: this.url,
      'certificate-authority-data': Buffer.from(this.certificateAuthority).toString('base64'),
    };
    const kubeconfig = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] });
    const signed = this.own === undefined ? {} : signatureOf(token, kubeconfig);
    const metadata = { name: 'cluster-info', namespace: 'kube-public' };
    await this.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubeconfig, ...signed } });
    await this.#openForNewcomers();
    const key = new X509Certificate(this.certificateAuthority).publicKey.export({ type: 'spki', format: 'der' });
    return { endpoint, token, hash: `sha256:${createHash('sha256').update(key).digest('hex')}` };
  }

  /** Lets everyone read cluster-info, and lets token holders check whether a node name exists and read the kubelet configuration. */
  async #openForNewcomers(): Promise<void> {
    if (this.own !== undefined) {
      this.own.authorizer.allow(
        ({ verb, resource, namespace, name }) =>
          verb === 'get' && resource === 'configmaps' && namespace === 'kube-public' && name === 'cluster-info',
      );
      this.own.authorizer.allow(
        ({ user, verb, resource, namespace, name }) =>
          user.groups.includes('system:bootstrappers') &&
          verb === 'get' &&
          (resource === 'nodes' ||
            (resource === 'configmaps' && namespace === 'kube-system' && name === 'kubelet-config')),
      );
      return;
    }
    const group = 'rbac.authorization.k8s.io';
    const get = (resources: string[], resourceNames?: string[]) => [
      { apiGroups: [''], resources, verbs: ['get'], ...(resourceNames === undefined ? {} : { resourceNames }) },
    ];
    const allow = async (place: string, role: string, what: { name: string; rules: object[]; subject: object }) => {
      const root = `/apis/${group}/v1${place}`;
      const { name, rules, subject } = what;
      const metadata = { name };
      const roleRef = { apiGroup: group, kind: role, name };
      await this.admin.create(`${root}/${role.toLowerCase()}s`, { metadata, rules });
      await this.admin.create(`${root}/${role.toLowerCase()}bindings`, { metadata, roleRef, subjects: [subject] });
    };
    const anybody = { apiGroup: group, kind: 'User', name: 'system:anonymous' };
    const newcomers = { apiGroup: group, kind: 'Group', name: 'system:bootstrappers' };
    const info = { name: 'test-info', rules: get(['configmaps'], ['cluster-info']), subject: anybody };
    await allow('/namespaces/kube-public', 'Role', info);
    const config = { name: 'test-config', rules: get(['configmaps'], ['kubelet-config']), subject: newcomers };
    await allow('/namespaces/kube-system', 'Role', config);
    await allow('', 'ClusterRole', { name: 'test-nodes', rules: get(['nodes']), subject: newcomers });
  }

  /** Creates or replaces objects; returns the stored ones. */
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

  /** An object; undefined if it does not exist. */
  async find(named: Named): Promise<ApiObject | undefined> {
    const answer = await this.admin.get(pathOf(named));
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new Error(`${pathOf(named)}: ${answer.text}`);
    return answer.body as ApiObject;
  }

  /** Waits until an object meets the condition, and returns it. */
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

  /** Waits until an object has been deleted. */
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

/** The signature of cluster-info for the holders of a token: a detached JWS, HS256. */
function signatureOf(token: string, text: string): Record<string, string> {
  const [id = '', secret = ''] = token.split('.');
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const payload = Buffer.from(text).toString('base64url');
  const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url');
  return { [`jws-kubeconfig-${id}`]: `${header}..${signature}` };
}

/** The path of the collection of an object's kind, in its namespace. */
export function collectionOf({ apiVersion = 'v1', kind, metadata }: Named): string {
  const found = kindOfObject({ apiVersion, kind });
  if (found === undefined) throw new Error(`unknown kind: ${apiVersion} ${kind}`);
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = found.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
  return `${root}${place}/${found.plural}`;
}

export const pathOf = (named: Named): string => `${collectionOf(named)}/${named.metadata.name}`;

/** `options` apply to the tests' API server; a real one always restricts nodes. */
export async function startCluster(options: ApiServerOptions = {}): Promise<Cluster> {
  const { PODWRIGHT_KUBERNETES_BIN: directory = '', PODWRIGHT_ETCD: etcd = '' } = process.env;
  if (directory === '') {
    const own = await startApiServer({ restrictsNodes: true, ...options });
    return new Cluster(own, own);
  }
  const plane = new RealControlPlane({ directory, etcd });
  await plane.start();
  return new Cluster(plane);
}

import { generateKeyPairSync } from 'node:crypto';
import type { ObjectStore } from '@podwright/api-machinery';
import { MemoryStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { AccountTokens } from './account-tokens.ts';
import { readSigningKey, type SigningKey } from './signing-key.ts';

export const ISSUER = 'https://kubernetes.default.svc.cluster.local';

export function newKey(kind: 'P-256' | 'P-384' | 'P-521' | 'rsa' = 'P-256', modulusLength = 2048): SigningKey {
  const { privateKey } =
    kind === 'rsa' ? generateKeyPairSync('rsa', { modulusLength }) : generateKeyPairSync('ec', { namedCurve: kind });
  return readSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

const RESOURCES: Record<string, string> = {
  ServiceAccount: 'serviceaccounts',
  Pod: 'pods',
  Secret: 'secrets',
  Node: 'nodes',
};

/** Returns an object named `[NAMESPACE/]NAME` whose UID is `uid-NAME`. */
export function object(kind: string, path: string, fields: Record<string, unknown> = {}): ApiObject {
  const [name = '', namespace] = path.split('/').reverse();
  const metadata = { name, uid: `uid-${name}`, ...(namespace === undefined ? {} : { namespace }) };
  return { kind, apiVersion: 'v1', metadata, ...fields };
}

export const keyOf = ({ kind = '', metadata: { name = '', namespace = '' } }: ApiObject) => ({
  resource: RESOURCES[kind]!,
  namespace,
  name,
});

/** A service account `app` in `shop` with a pod `web` on the node `n1`, and the issuer of its tokens. Tests set the time. */
export class TestCluster {
  readonly store: ObjectStore = new MemoryStore();
  readonly keys: { current: SigningKey; all: SigningKey[] };
  readonly tokens: AccountTokens;
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  readonly now = () => this.nowMs;

  constructor(key = newKey()) {
    this.keys = { current: key, all: [key] };
    const { store, keys, now } = this;
    this.tokens = new AccountTokens({ store, keys, issuer: ISSUER, audiences: [ISSUER], now });
    this.put(object('ServiceAccount', 'shop/app'));
    this.put(object('Node', 'n1'));
    this.put(object('Pod', 'shop/web', { spec: { serviceAccountName: 'app', nodeName: 'n1' } }));
    this.put(object('Secret', 'shop/hidden'));
  }

  put(one: ApiObject): void {
    const key = keyOf(one);
    const existing = this.store.get(key);
    if (existing === undefined) this.store.create(key, one);
    else this.store.update(key, one, existing.revision);
  }

  remove(one: ApiObject): void {
    const key = keyOf(one);
    this.store.delete(key, this.store.get(key)!.revision);
  }

  /** Returns a token of the service account `app` that is bound to further objects. */
  token(bound: Record<string, unknown> = {}, seconds = 600): string {
    const binding = { namespace: 'shop', serviceaccount: { name: 'app', uid: 'uid-app' }, ...bound };
    return this.tokens.issue({ audiences: [ISSUER], expirationSeconds: seconds, binding });
  }
}

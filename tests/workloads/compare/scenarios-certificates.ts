/** Certificates requested by kubelets: initial ones with a bootstrap token, renewals, serving certificates, and rejected requests. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { CERTIFICATE_SIGNING_REQUESTS } from '@podwright/kube-client';
import { requestFor } from '../../../packages/api-server/src/certificates/certificate-requests.fixture.ts';
import { decide, type Place, type Scenario, type Step, step, together, until } from './steps.ts';

const BINDINGS: Resource = {
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' },
  namespaced: false,
};
const REQUESTS = 'system:certificates.k8s.io:certificatesigningrequests';
const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const SERVING = 'kubernetes.io/kubelet-serving';
const RSA = ['rsa:2048'];
const CLIENT_USAGES = ['digital signature', 'client auth'];
const SERVING_USAGES = ['digital signature', 'server auth'];

/** Who requests a certificate: a holder of a bootstrap token, or the node's kubelet. */
type Requester = 'token' | 'node';
type Asked = {
  by: Requester;
  signerName: string;
  usages?: string[];
  /** The request's subject, in which NODE is replaced by the node's user name. */
  subject?: string;
  names?: string;
  kind?: readonly string[];
  expirationSeconds?: number;
};

/** User name of the scenario's node. The node's name begins with the namespace, like the names of the other objects. */
const nodeOf = (namespace: string): string => `system:node:${namespace}-node`;

const encodedRequests = new Map<string, string>();

/** Returns a certificate signing request. It is created once, so that all control planes receive the same one. */
function requestOf(namespace: string, { subject = '/O=system:nodes/CN=NODE', names, kind }: Asked): string {
  const filled = subject.replace('NODE', nodeOf(namespace));
  const key = JSON.stringify([filled, names, kind]);
  const encoded = encodedRequests.get(key) ?? requestFor(filled, { names, kind });
  encodedRequests.set(key, encoded);
  return encoded;
}

const ask = (name: string, asked: Asked): Step =>
  step(`the ${asked.by} requests ${name}`, async ({ connectAs, namespace }) => {
    const {
      by,
      signerName,
      usages = signerName === SERVING ? SERVING_USAGES : CLIENT_USAGES,
      expirationSeconds,
    } = asked;
    const client = await (by === 'token'
      ? connectAs('system:bootstrap:abcdef', ['system:bootstrappers'])
      : connectAs(nodeOf(namespace), ['system:nodes']));
    const spec = { request: requestOf(namespace, asked), signerName, usages, expirationSeconds };
    const object = { metadata: { name: `${namespace}-${name}` }, spec } as KubeObject;
    await client.create(CERTIFICATE_SIGNING_REQUESTS, object).finally(() => client.close());
  });

const bind = (name: string, role: string, group: string): Step =>
  step(`bind the role ${role} to ${group}`, ({ client, namespace }) => {
    const metadata = { name: `${namespace}-${name}` };
    const roleRef = { apiGroup: BINDINGS.group, kind: 'ClusterRole', name: role };
    const subjects = [{ apiGroup: BINDINGS.group, kind: 'Group', name: group }];
    return client.create(BINDINGS, { metadata, ...{ roleRef, subjects } } as KubeObject);
  });

type Signed = { status?: { certificate?: string } };

const isSigned = ({ status }: Signed): boolean => status?.certificate !== undefined;
const untilSigned = (name: string): Step => until(CERTIFICATE_SIGNING_REQUESTS, name, 'it is signed', isSigned);

/** Returns the issued certificate's fields that do not differ between authorities. */
const show = (name: string): Step =>
  step(`look at the certificate of ${name}`, async ({ client, namespace }: Place) => {
    const place = { name: `${namespace}-${name}` };
    const { status } = await client.get<KubeObject & Signed>(CERTIFICATE_SIGNING_REQUESTS, place);
    const pem = Buffer.from(status?.certificate ?? '', 'base64').toString();
    const { subject, subjectAltName, validFromDate, validToDate, ca } = new X509Certificate(pem);
    const usages = ['keyUsage', 'extendedKeyUsage', 'basicConstraints'].join();
    const extensions = execFileSync('openssl', ['x509', '-noout', '-ext', usages], { input: pem }).toString();
    const seconds = Math.round((validToDate.getTime() - validFromDate.getTime()) / 1000);
    const words = [subject, subjectAltName, extensions, `${seconds} s`, ca ? 'an authority' : 'no authority'];
    return words.join('; ').replaceAll(/\s+/g, ' ');
  });

export const CERTIFICATES: Scenario[] = [
  {
    name: 'certificates of kubelets',
    steps: [
      together('bind the roles that kubeadm binds', [
        bind('bootstrap', 'system:node-bootstrapper', 'system:bootstrappers'),
        bind('approve', `${REQUESTS}:nodeclient`, 'system:bootstrappers'),
        bind('renew', `${REQUESTS}:selfnodeclient`, 'system:nodes'),
      ]),
      together('the first certificate', [ask('first', { by: 'token', signerName: CLIENT }), untilSigned('first')]),
      show('first'),
      together('a renewal for an hour', [
        ask('renewal', { by: 'node', signerName: CLIENT, expirationSeconds: 3600 }),
        untilSigned('renewal'),
      ]),
      show('renewal'),
      together('a renewal with an RSA key', [
        ask('rsa', { by: 'node', signerName: CLIENT, kind: RSA, usages: ['key encipherment', ...CLIENT_USAGES] }),
        untilSigned('rsa'),
      ]),
      show('rsa'),
      ask('serving', { by: 'node', signerName: SERVING, names: 'DNS:n9,IP:192.0.2.9,IP:2001:db8::9' }),
      together('the serving certificate', [decide('serving', 'Approved'), untilSigned('serving')]),
      show('serving'),
    ],
  },
  {
    name: 'certificates of kubelets: refused',
    steps: [
      bind('renew', `${REQUESTS}:selfnodeclient`, 'system:nodes'),
      ask('no-names', { by: 'node', signerName: SERVING }),
      decide('no-names', 'Approved'),
      ask('mail', { by: 'node', signerName: SERVING, names: 'DNS:n9,email:a@example.com' }),
      decide('mail', 'Approved'),
      ask('client-usage', { by: 'node', signerName: SERVING, names: 'DNS:n9', usages: CLIENT_USAGES }),
      decide('client-usage', 'Approved'),
      ask('other-node', { by: 'node', signerName: CLIENT, subject: '/O=system:nodes/CN=system:node:other' }),
      ask('serving-other', {
        ...{ by: 'node', signerName: SERVING, names: 'DNS:other' },
        subject: '/O=system:nodes/CN=system:node:other',
      }),
      ask('masters', { by: 'node', signerName: CLIENT, subject: '/O=system:masters/CN=NODE' }),
      ask('two-groups', { by: 'node', signerName: CLIENT, subject: '/O=system:nodes/O=system:masters/CN=NODE' }),
      ask('with-names', { by: 'node', signerName: CLIENT, names: 'DNS:n9' }),
      ask('more-usages', { by: 'node', signerName: CLIENT, usages: [...CLIENT_USAGES, 'server auth'] }),
      ask('denied', { by: 'node', signerName: SERVING, names: 'DNS:n9' }),
      decide('denied', 'Denied'),
    ],
  },
];

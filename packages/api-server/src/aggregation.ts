/** Sets up what the server needs for extension API servers: their APIServices, certificates and documents. */
import { join } from 'node:path';
import type { ObjectStore } from '@podwright/api-machinery';
import type { Registry } from '@podwright/base';
import { AvailabilityMetrics } from './aggregation/availability-metrics.ts';
import { ExtensionApis } from './aggregation/extension-apis.ts';
import type { ExtensionContent } from './aggregation/extension-content.ts';
import { ExtensionDocuments } from './aggregation/extension-documents.ts';
import { followRegistrations } from './aggregation/follow-registrations.ts';
import { REMOTE_EXTRA_PREFIX, REMOTE_HEADERS } from './aggregation/remote-user.ts';
import { ClientCertificate } from './backends/client-certificate.ts';
import { CertificateAuthority } from './certificates/certificate-authority.ts';
import { keepAuthenticationTrust } from './controllers/authentication-trust.ts';
import type { ControllerParts } from './controllers/controller-parts.ts';
import { keepLocalServices, type LocalServicesParts } from './controllers/keep-local-services.ts';
import type { ComputedResource } from './server/computed-resource.ts';
import type { RequestInfo } from './server/request-info.ts';

export type AggregationParts = {
  directory: string;
  store: ObjectStore;
  metrics: Registry;
  /** The CA that verifies client certificates. */
  authority: Pick<CertificateAuthority, 'certificate'>;
  /** Computed resources, such as `pods.metrics.k8s.io`, that an extension API server may serve instead of this server. */
  replaceable: readonly Pick<ComputedResource, 'resource'>[];
  now: () => number;
};

export type Aggregation = {
  apis: ExtensionApis;
  /** Whether a request is served by an extension API server. */
  isExtension: (info: RequestInfo) => boolean;
  documents: ExtensionDocuments;
  /** Deletes the objects of a namespace on extension API servers. Returns `undefined` if there are no such servers. */
  deleteContent: (namespace: string, signal: AbortSignal) => Promise<ExtensionContent | undefined>;
  /** Starts the controllers, which run until `parts.signal` aborts. */
  start: (parts: ControllerParts, served: ServedKinds) => Promise<void>[];
};

export type ServedKinds = Pick<LocalServicesParts, 'builtIn' | 'custom'>;

/** Names of the CA and of the client certificate for extension API servers, as in clusters created by kubeadm. */
const AUTHORITY = 'front-proxy-ca';
const CLIENT = 'front-proxy-client';

export async function openAggregation(parts: AggregationParts): Promise<Aggregation> {
  const { directory, store, metrics, now } = parts;
  const replaceable = parts.replaceable.map(({ resource }) => resource);
  // a separate CA, so that no client of the cluster can get a certificate that extension API servers would accept as this server's
  const authority = await CertificateAuthority.open(join(directory, 'front-proxy'), now, AUTHORITY);
  const client = new ClientCertificate(authority, { commonName: CLIENT }, now);
  const extension = { store, clientPair: () => client.pair(), agents: new Map() };
  const apis = new ExtensionApis(extension);
  const { registrations } = apis;
  const documents = new ExtensionDocuments(registrations);
  const availability = new AvailabilityMetrics(metrics);
  const trust = {
    clientAuthority: parts.authority.certificate,
    proxyAuthority: authority.certificate,
    proxyNames: [CLIENT],
    headers: { ...REMOTE_HEADERS, extraPrefix: REMOTE_EXTRA_PREFIX },
  };
  return {
    apis,
    isExtension: (info) => apis.handlerOf(info) !== undefined,
    documents,
    deleteContent: async (namespace, signal) => {
      if (registrations.all.length === 0) return undefined;
      const { deleteExtensionContent } = await import('./aggregation/extension-content.ts');
      return deleteExtensionContent(namespace, { registrations, documents, extension }, signal);
    },
    start: (shared, served) => [
      keepAuthenticationTrust({ ...shared, trust, now }),
      keepLocalServices({ ...shared, ...served, replaceable }),
      followRegistrations({ ...shared, extension, registrations, documents, metrics: availability, now }),
    ],
  };
}

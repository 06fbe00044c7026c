import { groupResource, type ObjectStore, type Registries, storedResource } from '@podwright/api-machinery';
import { background, type Logger } from '@podwright/base';
import type { FlowControl } from '@podwright/flow-control';
import { apiVersionOf, type Resource, type Schema } from '@podwright/kube-schema';
import { keepQuotaStatus, type QuotaStatusParts } from './admission/quota-status.ts';
import type { Aggregation } from './aggregation.ts';
import { keepAggregated } from './authorization/aggregation-watch.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { CertificateAuthority } from './certificates/certificate-authority.ts';
import { clusterInfoText } from './certificates/kubeconfig.ts';
import { type AccountSecretsParts, keepAccountSecrets } from './controllers/account-secrets.ts';
import { handleCertificateRequests } from './controllers/certificate-requests.ts';
import { cleanRequests } from './controllers/clean-requests.ts';
import { collectGarbage } from './controllers/collect-garbage.ts';
import type { ControllerParts } from './controllers/controller-parts.ts';
import { keepDefinitions } from './controllers/custom-definitions.ts';
import { deleteNamespaces } from './controllers/delete-namespaces.ts';
import { expireEvents } from './controllers/expire-events.ts';
import { keepJoinTokens } from './controllers/join-tokens.ts';
import { keepFlows } from './controllers/keep-flows.ts';
import { type KubernetesService, keepKubernetesService } from './controllers/kubernetes-service.ts';
import type { Location } from './controllers/location.ts';
import { fillNamespaces } from './controllers/namespace-contents.ts';
import { untaintReadyNodes } from './controllers/node-readiness.ts';
import { protectStorage } from './controllers/protect-storage.ts';
import type { CustomKinds } from './custom-kinds.ts';
import { systemContext } from './system-context.ts';

export type ControllersParts = {
  schema: Schema;
  /** The built-in resources that the server implements. */
  resources: readonly Resource[];
  custom: CustomKinds;
  aggregation: Aggregation;
  flowControl: FlowControl;
  registries: Registries;
  store: ObjectStore;
  authority: CertificateAuthority;
  authorizer: Authorizer;
  /** Returns a token of the service account, to be stored in a Secret. */
  issueToken: AccountSecretsParts['issue'];
  /** URL at which other machines reach the server; undefined if it does not listen over TLS. */
  serverUrl: string | undefined;
  service: KubernetesService;
  /** Called when a controller returns, which only happens on shutdown or because of a bug. */
  ended: () => void;
  /** Whether to remove the not-ready taint from ready nodes, because nothing else does. */
  untaintsNodes: boolean;
  /** Whether a kube-controller-manager runs the controllers that are part of it in upstream. */
  hasControllerManager: boolean;
  logger: Logger;
  now: () => number;
};

const MANAGER = 'kube-controller-manager';

/** Starts the controllers that the API depends on. Returns a function that stops them and resolves once all have ended. */
export function startControllers({ registries, store, logger, now, ...parts }: ControllersParts): () => Promise<void> {
  const builtIn = storedResources(parts.schema, parts.resources);
  const { custom } = parts;
  let customByName = storedResources(parts.schema, custom.resources);
  custom.onChange(() => {
    customByName = storedResources(parts.schema, custom.resources);
  });
  const resourceOf = (name: string) => builtIn.get(name) ?? customByName.get(name);
  const abort = new AbortController();
  const shared: ControllerParts = {
    store,
    registryOf: (resource) => registries.for(resourceOf(resource)!),
    context: (subresource) => systemContext(now(), { manager: MANAGER, subresource }),
    logger,
    signal: abort.signal,
  };
  const names = () => [...builtIn.keys(), ...customByName.keys()];
  const namespaced = () => names().filter((name) => resourceOf(name)!.namespaced);
  const resources = { names, onChange: (listener: () => void) => custom.onChange(listener) };
  const { authority, authorizer, serverUrl } = parts;
  const caCertificate = authority.certificate;
  const clusterInfo = serverUrl === undefined ? undefined : clusterInfoText({ server: serverUrl, caCertificate });
  const quotas = {
    store,
    isServed: (resource: string) => resourceOf(resource) !== undefined,
    setStatus: quotaWriter(shared),
    now,
    logger,
  };
  // Starts the controllers that upstream runs in kube-controller-manager and not in kube-apiserver.
  const managed = () => [
    fillNamespaces({ ...shared, caCertificate }),
    deleteNamespaces({ ...shared, namespaced, deleteElsewhere: parts.aggregation.deleteContent }),
    collectGarbage({ ...shared, resources, locate: ownerLookup(parts) }),
    protectStorage(shared),
    handleCertificateRequests({ ...shared, authority, authorizer, now }),
    cleanRequests({ ...shared, now }),
    keepJoinTokens({ ...shared, clusterInfo, now }),
    keepAccountSecrets({ ...shared, issue: parts.issueToken, caCertificate }),
    keepAggregated({ store, setRules: ruleWriter(shared), logger }, abort.signal),
  ];
  const work = [
    keepDefinitions({ ...shared, install: (all) => custom.install(all), load: () => custom.load(), now }),
    keepFlows({ ...shared, flowControl: parts.flowControl, now }),
    ...parts.aggregation.start(shared, { builtIn: parts.resources, custom }),
    keepKubernetesService({ ...shared, service: parts.service }),
    expireEvents({ ...shared, now }),
    keepQuotaStatus(quotas, abort.signal), // upstream counts created objects in admission, not in its controller
    ...(parts.untaintsNodes ? [untaintReadyNodes(shared)] : []),
    ...(parts.hasControllerManager ? [] : managed()),
  ];
  for (const one of work) background(logger, 'a controller failed', one.finally(parts.ended));
  return async () => {
    abort.abort();
    await Promise.allSettled(work);
  };
}

/** Returns the resources with stored objects, by store name. */
function storedResources(schema: Schema, resources: readonly Resource[]): Map<string, Resource> {
  const listed = resources.filter(({ verbs }) => verbs.includes('list'));
  return new Map(listed.map((one) => storedResource(schema, one)).map((one) => [groupResource(one), one]));
}

/** Returns a function that locates the object an owner reference refers to. Namespaced owners are in their dependent's namespace. */
function ownerLookup({ schema, resources, custom }: Pick<ControllersParts, 'schema' | 'resources' | 'custom'>) {
  const nameOf = (one: Resource) => `${apiVersionOf(one)} ${one.kind}`;
  const byKind = new Map(resources.map((one) => [nameOf(one), one]));
  return (owner: { apiVersion: string; kind: string; name: string }, namespace: string): Location | undefined => {
    const kind = `${owner.apiVersion} ${owner.kind}`;
    const resource = byKind.get(kind) ?? custom.resources.find((one) => nameOf(one) === kind);
    if (resource === undefined || (resource.namespaced && namespace === '')) return undefined;
    const { name } = owner;
    return {
      resource: groupResource(storedResource(schema, resource)),
      namespace: resource.namespaced ? namespace : '',
      name,
    };
  };
}

function quotaWriter({ registryOf, context }: ControllerParts): QuotaStatusParts['setStatus'] {
  return async (quota, status) => {
    const { namespace = '', name = '' } = quota.metadata;
    await registryOf('resourcequotas').update({ namespace, name }, { ...quota, status }, context('status'));
  };
}

function ruleWriter({ registryOf, context }: ControllerParts) {
  return async (name: string, rules: readonly unknown[]): Promise<void> => {
    const place = { namespace: '', name };
    await registryOf('clusterroles.rbac.authorization.k8s.io').change(place, (role) => ({ ...role, rules }), context());
  };
}

import { ipWarnings } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { immutable } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, objectsAt, textAt, textsAt, valueAt, withItems } from '../values.ts';
import { validateEndpoints, validateSlice } from './endpoint-slice-validation.ts';

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const CONTROLLERS = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];
const HOSTNAME = 'kubernetes.io/hostname';

export const endpointSlices: Strategy = {
  applyDefaults: (object) =>
    withItems(object, ['ports'], (port) => ({
      ...port,
      name: valueAt(port, 'name') ?? '',
      protocol: valueAt(port, 'protocol') ?? 'TCP',
    })),
  prepareForCreate: (object) => withoutTopology(object, new Set()),
  prepareForUpdate: (object, old) =>
    isSameValue(object.endpoints, old.endpoints) ? object : withoutTopology(object, topologyNodes(old)),
  validate: (object) => [...validateSlice(object), ...validateEndpoints(object)],
  validateUpdate: (object, old) => [
    ...validateSlice(object),
    // unchanged endpoints are not validated: an older version of the server might have accepted them
    ...(isSameValue(object.endpoints, old.endpoints) ? [] : validateEndpoints(object)),
    ...immutable('addressType', textAt(object, 'addressType'), textAt(old, 'addressType')),
  ],
  warnings: (object, old) => [...(old === undefined ? typeWarnings(object) : []), ...addressWarnings(object)],
  hasGeneration: true,
  countsLabels: true,
};

/**
 * Removes the deprecated topology from endpoints, which v1 does not accept. Sets an endpoint's missing node name from its topology if the
 * old slice already had an endpoint on that node.
 */
function withoutTopology(object: ApiObject, nodes: ReadonlySet<string>): ApiObject {
  return withItems(object, ['endpoints'], ({ deprecatedTopology, ...endpoint }) => {
    const node = textAt(deprecatedTopology, HOSTNAME);
    const isKnown = nodes.has(node) && dns1123SubdomainProblems(node).length === 0;
    return isKnown && endpoint.nodeName === undefined ? { ...endpoint, nodeName: node } : endpoint;
  });
}

const topologyNodes = (slice: ApiObject): Set<string> =>
  new Set(
    objectsAt(slice, 'endpoints')
      .map((endpoint: JsonObject) => textAt(endpoint, 'deprecatedTopology', HOSTNAME))
      .filter((node) => node !== ''),
  );

const typeWarnings = (object: ApiObject): string[] =>
  object.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];

function addressWarnings(object: ApiObject): string[] {
  if (CONTROLLERS.includes(textAt(object, 'metadata', 'labels', MANAGED_BY))) return [];
  return objectsAt(object, 'endpoints').flatMap((endpoint, index) =>
    textsAt(endpoint, 'addresses').flatMap((address, at) =>
      ipWarnings(`endpoints[${index}].addresses[${at}]`, address),
    ),
  );
}

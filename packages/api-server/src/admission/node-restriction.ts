import { type AdmissionAttributes, ApiError, groupResource } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { nodeOfUser } from '../authorization/known-users.ts';
import { type AdmissionPlugin, type ObjectAttributes, rejected } from './admission-plugin.ts';
import {
  claimRefusal,
  csiNodeRefusal,
  leaseRefusal,
  nodeRefusal,
  requestRefusal,
  sliceRefusal,
} from './node-object-rules.ts';
import { podRefusal } from './node-pod-rules.ts';
import { tokenRefusal } from './node-token-rules.ts';
import type { NodeRestrictionParts, NodeWriteRule } from './node-write.ts';

const RULES: ReadonlyMap<string, NodeWriteRule> = new Map<string, NodeWriteRule>([
  ['pods', podRefusal],
  ['nodes', nodeRefusal],
  ['persistentvolumeclaims', claimRefusal],
  ['serviceaccounts', tokenRefusal],
  ['leases.coordination.k8s.io', leaseRefusal],
  ['csinodes.storage.k8s.io', csiNodeRefusal],
  ['resourceslices.resource.k8s.io', sliceRefusal],
  ['certificatesigningrequests.certificates.k8s.io', requestRefusal],
]);

/**
 * Restricts kubelets to writing their own objects, and only the fields that a kubelet sets. All other restrictions are enforced by the Node
 * authorizer.
 */
export class NodeRestriction implements AdmissionPlugin {
  readonly name = 'NodeRestriction';
  readonly #parts: NodeRestrictionParts;

  constructor(parts: NodeRestrictionParts) {
    this.#parts = parts;
  }

  /** Checks the object as the kubelet sent it, before the server fills in defaults such as a token's audience. */
  mutate(attributes: ObjectAttributes): ApiObject {
    this.#check(attributes);
    return attributes.object;
  }

  validate(attributes: AdmissionAttributes): void {
    if (attributes.operation === 'DELETE') this.#check(attributes);
  }

  #check(attributes: AdmissionAttributes): void {
    const node = nodeOfUser(attributes.user);
    if (node === undefined || attributes.operation === 'CONNECT') return;
    if (node === '')
      throw rejected(attributes, `could not determine node from user ${JSON.stringify(attributes.user.username)}`);
    const refusal = RULES.get(groupResource(attributes.resource))?.({ ...this.#parts, node, attributes });
    if (refusal instanceof ApiError) throw refusal;
    if (refusal !== undefined) throw rejected(attributes, refusal);
  }
}

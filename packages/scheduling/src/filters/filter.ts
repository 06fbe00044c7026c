import type { Pod } from '@podwright/kube-api';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';

/** Why a pod cannot run on a node, in upstream's wording. `isFinal`: removing other pods from the node would not help. */
export type Rejection = { reasons: readonly string[]; isFinal: boolean };

/** Why a pod cannot run on any node, whatever the nodes are like. */
export type Refusal = { refusal: string };

/** Checks a node; `undefined` if the pod can run there. */
export type NodeCheck = (node: NodeState) => Rejection | undefined;

/**
 * A filter of upstream's scheduler. Looks at the cluster once, and returns a check for individual nodes, a refusal, or `undefined` if it
 * does not apply to the pod. Pure.
 */
export type Filter = (pod: Pod, snapshot: Snapshot) => NodeCheck | Refusal | undefined;

export const final = (...reasons: string[]): Rejection => ({ reasons, isFinal: true });

/** A rejection that removing pods might resolve. */
export const removable = (...reasons: string[]): Rejection => ({ reasons, isFinal: false });

import type { LabelSelector, Resource } from '@podwright/kube-api';
import {
  REPLICA_SETS,
  REPLICATION_CONTROLLERS,
  type ReplicaSet,
  type ReplicationController,
} from '../objects/replica-set.ts';

/** A kind that maintains a number of identical pods: ReplicaSet or ReplicationController. */
export type ReplicaKind = {
  resource: Resource;
  /** The source component of the events that the controller records. */
  component: string;
  /** Whether the kind's status has `terminatingReplicas`. */
  countsTerminating: boolean;
  selectorOf: (object: ReplicaSet) => LabelSelector | undefined;
};

export const REPLICA_SET_KIND: ReplicaKind = {
  resource: REPLICA_SETS,
  component: 'replicaset-controller',
  countsTerminating: true,
  selectorOf: ({ spec }) => spec.selector,
};

export const REPLICATION_CONTROLLER_KIND: ReplicaKind = {
  resource: REPLICATION_CONTROLLERS,
  component: 'replication-controller',
  countsTerminating: false,
  selectorOf: (object) => {
    const { selector } = (object as unknown as ReplicationController).spec;
    return selector === undefined ? undefined : { matchLabels: selector };
  },
};

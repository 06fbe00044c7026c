import type { Pod } from '@podwright/kube-api';

/** Lines of a container's log. */
export type LogEnd = { container: string; previous: boolean; lines: string[] };

/** Why an object is not ready, for people and programs. */
export type Finding = {
  /** Name of the cause, such as `image-not-found`. It stays the same over versions. */
  cause: string;
  /** What is wrong, in one sentence without the object's name. */
  sentence: string;
  /** What to do, a sentence each. */
  advice: string[];
  /** Lines of the log that show it. */
  log?: LogEnd;
};

/** The part of an event that causes read. `fieldPath` names the container: `spec.containers{NAME}`. */
export type ViewedEvent = { type: string; reason: string; message: string; involvedObject?: { fieldPath?: string } };

/** What is known about a pod. */
export type PodFacts = {
  pod: Pod;
  /** The pod's events, oldest first. */
  events: readonly ViewedEvent[];
  /** The end of the log of the container that failed or is not ready; undefined if there is none. */
  log: LogEnd | undefined;
  /** Claims of the pod that are not bound, with the last event of each. */
  unboundClaims: readonly { name: string; exists: boolean; storageClass?: string; event?: string }[];
  /** The nodes of the cluster, if a taint may be the cause; otherwise empty. */
  nodes: readonly NodeFacts[];
  now: number;
};

/** A node's taints and conditions. */
export type NodeFacts = {
  metadata: { name?: string };
  spec?: { taints?: { key: string; value?: string; effect: string }[] };
  status?: { conditions?: { type: string; status: string; message?: string }[] };
};

/** Recognizes one kind of trouble. Pure. Returns undefined if the pod does not have it. */
export type PodCause = (facts: PodFacts) => Finding | undefined;

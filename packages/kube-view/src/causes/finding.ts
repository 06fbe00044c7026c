import type { Pod } from '@podwright/kube-api';

/** The last lines of a container's log. `previous`: they are from the container's previous run. */
export type LogEnd = { container: string; previous: boolean; lines: string[] };

/** Why an object is not ready, for people and programs. */
export type Finding = {
  /** Name of the cause, such as `image-not-found`. It is stable across versions. */
  cause: string;
  /** The problem, in one sentence without the object's name. */
  sentence: string;
  /** What the user can do, one sentence per item. */
  advice: string[];
  /** Log lines that show the problem. */
  log?: LogEnd;
};

/** The fields of an event that causes use. `fieldPath` names the container: `spec.containers{NAME}`. */
export type ViewedEvent = { type: string; reason: string; message: string; involvedObject?: { fieldPath?: string } };

/** The objects, events and log lines from which causes identify a pod's problem. */
export type PodFacts = {
  pod: Pod;
  /** The pod's events, oldest first. */
  events: readonly ViewedEvent[];
  /** The last log lines of the container that failed or is not ready; undefined if there is no such container. */
  log: LogEnd | undefined;
  /** The pod's unbound claims, each with its last event. */
  unboundClaims: readonly { name: string; exists: boolean; storageClass?: string; event?: string }[];
  /** The cluster's nodes if a taint might be the cause; otherwise empty. */
  nodes: readonly NodeFacts[];
  now: number;
};

/** A node's taints and conditions. */
export type NodeFacts = {
  metadata: { name?: string };
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] };
  status?: { conditions?: { type: string; status: string; message?: string }[] };
};

/** Recognizes one type of problem. Returns undefined if the pod does not have it. Pure. */
export type PodCause = (facts: PodFacts) => Finding | undefined;

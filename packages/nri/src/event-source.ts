import type { Container, PodSandbox } from './gen/nri/v1alpha1/container_pb.js';

export type Awaitable<T> = T | Promise<T>;

/** A pod of the container runtime. `message` and `encoded` are called only if a plugin receives the pod. */
export type PodSource = {
  id: string;
  isStopped?: boolean;
  message(): Awaitable<PodSandbox>;
  /** Returns the encoded message, for runtimes that keep it from one event to the next. By default, `message` is encoded. */
  encoded?(): Awaitable<Uint8Array>;
};

/** A container in the container runtime, and its pod. `message` and `encoded` are called only if a plugin receives the container. */
export type ContainerSource = {
  id: string;
  pod: PodSource;
  message(): Awaitable<Container>;
  /** Returns the encoded message, for runtimes that keep it from one event to the next. By default, `message` is encoded. */
  encoded?(): Awaitable<Uint8Array>;
};

/** The pod of an event and, for events of containers, the container. */
export type EventSubject = { pod: PodSource; container?: ContainerSource };

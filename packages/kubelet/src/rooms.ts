import type { ContainerStatus, CriClient } from '@podwright/cri';
import type { EventRecorder } from './api/types.ts';
import type { NodeAmounts } from './cgroups/node-allocatable.ts';
import type { LocalObjects } from './config/local-objects.ts';
import type { PodUpdate } from './config/pod-update.ts';
import type { KuberuntimeDependencies } from './kuberuntime/dependencies.ts';
import type { HookRunner } from './lifecycle/contract.ts';
import type { KubeletOptions } from './options.ts';
import type { PodProbes } from './pod/contract.ts';
import type { PodVolumes } from './volumes/contract.ts';

/** The rooms that the sync loop only knows by their contracts. */
export type KubeletRooms = {
  objects: LocalObjects;
  volumes: PodVolumes;
  probes: PodProbes;
  hooks: HookRunner;
  prepare: KuberuntimeDependencies['prepare'];
  /** The message that an exited container left. */
  readEnd: (container: ContainerStatus) => Promise<string>;
  /** Begins to read the sources of pods. Each source's first update holds all of its pods. */
  startSources: (onUpdate: (update: PodUpdate) => void) => PodSources;
};

export type PodSources = {
  /** Every source has been read once: pods of the runtime that none of them has are orphans. */
  ready: Promise<void>;
  stop(): Promise<void>;
};

/** What the rooms are made from. */
export type RoomsInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: EventRecorder;
  hostIps: () => string[];
  /** What pods may use together. */
  allocatable: NodeAmounts;
};

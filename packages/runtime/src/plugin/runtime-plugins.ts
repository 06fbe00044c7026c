import type { ImageService, Snapshotter } from '@podwright/images';
import type { ShimProgram, Shims } from '@podwright/shim';
import type { HostAbilities } from '../host/host-abilities.ts';
import type { Network } from '../network/network.ts';
import type { SandboxController } from '../sandbox/sandbox-controller.ts';
import type { TaskRuntime } from '../tasks/task-runtime.ts';
import type { Plugin } from './plugin.ts';

/** The types of a runtime's plugins, and what each gives: the contracts of the rooms. */
export type RuntimePluginTypes = {
  host: HostAbilities;
  snapshotter: Snapshotter;
  images: ImageService & { close(): Promise<void> };
  network: Network;
  /** Shims of containerd, and which one each runtime handler has. */
  shims: { shims: Shims; programs: ReadonlyMap<string, ShimProgram> };
  'task-runtime': TaskRuntime;
  'sandbox-controller': SandboxController;
};

/** A plugin of the runtime that gives an instance of `Type`. */
export type RuntimePlugin<Type extends keyof RuntimePluginTypes = keyof RuntimePluginTypes> = {
  [T in Type]: Plugin<RuntimePluginTypes, T>;
}[Type];

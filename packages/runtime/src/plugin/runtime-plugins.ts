import type { ImageService, Snapshotter } from '@podwright/images';
import type { ShimProgram, Shims } from '@podwright/shim';
import type { HostAbilities } from '../host/host-abilities.ts';
import type { Network } from '../network/network.ts';
import type { NriPlugins } from '../nri/nri-plugins.ts';
import type { SandboxController } from '../sandbox/sandbox-controller.ts';
import type { TaskRuntime } from '../tasks/task-runtime.ts';
import type { Plugin } from './plugin.ts';

/** The container runtime's plugin types, with the interface of each type's instances. */
export type RuntimePluginTypes = {
  host: HostAbilities;
  snapshotter: Snapshotter;
  images: ImageService & { close(): Promise<void> };
  network: Network;
  nri: NriPlugins;
  /** `shims` manages the containerd shims; `programs` contains each runtime handler's shim, by handler name. */
  shims: { shims: Shims; programs: ReadonlyMap<string, ShimProgram> };
  'task-runtime': TaskRuntime;
  'sandbox-controller': SandboxController;
};

/** A plugin of the container runtime of type `Type`. */
export type RuntimePlugin<Type extends keyof RuntimePluginTypes = keyof RuntimePluginTypes> = {
  [T in Type]: Plugin<RuntimePluginTypes, T>;
}[Type];

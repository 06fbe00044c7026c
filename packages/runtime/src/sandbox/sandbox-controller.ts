import type { CgroupStats } from '@podwright/base';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** What a sandbox gives to its containers. A namespace that is absent is the host's own. */
export type SandboxEnvironment = {
  /** The user namespace owns the others: a pod that asks for one (`userNamespace`) has it. */
  namespaces: { network?: string; ipc?: string; uts?: string; user?: string };
  /** Files of the pod, to be mounted into each container. */
  files: { hosts: string; hostname: string; resolvConf: string };
  /** What is mounted at /dev/shm. */
  shm: string;
};

/**
 * Makes the isolated place that a pod's containers share; picked by runtime handler. The sandbox service calls
 * `create`, then (with the network being set up meanwhile, or before) `start`, and later `stop` and `remove`.
 *
 * Everything made is found again by the sandbox's id alone: `stop` and `remove` may be called any number of times, after a restart of the process, and after any part of `create` and `start`. After `stop` nothing of it runs, is pinned
 * or mounted; after `remove` no file is left either.
 *
 * The flags say what differs between controllers and only the service can act on, as it alone knows the network and the
 * containers. They are properties, each false unless given, so that a plugin that was written before one of them goes on.
 */
export interface SandboxController {
  readonly name: string;
  /** `start` comes after the network is set up, as for a virtual machine, which looks at its network when it boots. */
  readonly startsInNetwork?: boolean;
  /** The sandbox runs the tasks of its containers: they are to be deleted before it is stopped. */
  readonly holdsTasks?: boolean;
  /** It makes the user namespaces that pods ask for (`userNamespace`). */
  readonly makesUserNamespaces?: boolean;
  /** Its `create` takes the namespaces of `SandboxNamespaces.prepare`, which only controllers of ours have. */
  readonly takesReadySandboxes?: boolean;
  /** Makes the namespaces. The result names the network namespace to set up, none for the host's network. */
  create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }>;
  /** Makes everything else that needs no address. */
  start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void>;
  /** Tells the sandbox its addresses. */
  setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void>;
  environment(sandbox: SandboxRecord): SandboxEnvironment;
  /** Path of the PID namespace that all containers of the pod share; its init is started by the first call. */
  sharedPidNamespace(sandbox: SandboxRecord, signal: AbortSignal): Promise<string>;
  /** Whether what `create` and `start` made is still there; the reason is for people. From then on `onLost` reports. */
  status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }>;
  /** Calls back when a sandbox's own process ends by itself, also while it is only just started. */
  onLost(listener: (sandboxId: string, reason: string) => void): void;
  stop(sandboxId: string): Promise<void>;
  remove(sandboxId: string): Promise<void>;
  /** Sandbox ids of which anything is left on the host. */
  list(): Promise<string[]>;
  /** Path of the sandbox's network namespace, if it has one of its own. */
  netnsPath(sandbox: SandboxRecord): string | undefined;
  /** What people may want to know besides, as plain data for JSON: the pid of its own process, for example. */
  describe?(sandbox: SandboxRecord): Promise<Record<string, unknown>>;
  /** What the sandbox uses where the host's cgroups do not show it; undefined if nothing counts it. */
  use?(sandbox: SandboxRecord): Promise<CgroupStats | undefined>;
}

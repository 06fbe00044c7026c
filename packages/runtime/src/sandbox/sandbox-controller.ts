import type { CgroupStats } from '@podwright/host';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** The parts of a sandbox that its containers use. If a namespace is absent, the host's is used. */
export type SandboxEnvironment = {
  /** If the pod requests a user namespace (`userNamespace`), it owns the other namespaces. */
  namespaces: { network?: string; ipc?: string; uts?: string; user?: string };
  /** The pod's files, which are mounted into each of its containers. */
  files: { hosts: string; hostname: string; resolvConf: string };
  /** Source of the mount at /dev/shm. */
  shm: string;
};

/**
 * Creates the environment shared by a pod's containers. The runtime handler selects the controller. The sandbox service calls `create`,
 * then `start` (while the network is being set up or afterwards), and later `stop` and `remove`.
 *
 * All resources are found by the sandbox ID. `stop` and `remove` are idempotent, and work after a restart of the process, and even if `create`
 * or `start` failed partway. After `stop`, the sandbox has no processes, pinned namespaces or mounts left; after `remove`, it has no files
 * left either.
 *
 * The flags describe differences that only the sandbox service can act on, because it controls the network and the containers. They are
 * optional and default to false, so that older plugins keep working.
 */
export interface SandboxController {
  readonly name: string;
  /**
   * Whether the sandbox service must not call `start` before the network is set up, for example because the sandbox is a virtual machine
   * that reads its network configuration at boot.
   */
  readonly startsInNetwork?: boolean;
  /** Whether the sandbox itself runs its containers' tasks, which must then be deleted before it is stopped. */
  readonly holdsTasks?: boolean;
  /** Whether the controller creates the user namespaces that pods request (`userNamespace`). */
  readonly makesUserNamespaces?: boolean;
  /** Whether `create` accepts namespaces from `SandboxNamespaces.prepare`. Only built-in controllers support this. */
  readonly takesReadySandboxes?: boolean;
  /** Creates the namespaces. Returns the path of the network namespace to set up; none if the sandbox uses the host's network. */
  create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }>;
  /** Creates everything else that does not depend on addresses. */
  start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void>;
  /** Passes the sandbox's IP addresses to the controller, for example for the hosts file. */
  setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void>;
  environment(sandbox: SandboxRecord): SandboxEnvironment;
  /** Returns the path of the PID namespace that all containers in the pod share. The first call starts its init process. */
  sharedPidNamespace(sandbox: SandboxRecord, signal: AbortSignal): Promise<string>;
  /**
   * Returns whether everything that `create` and `start` made still exists; if not, `reason` explains why to users. From then on, `onLost`
   * reports a loss.
   */
  status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }>;
  /** Calls `listener` when a sandbox's infra process exits by itself, even while the sandbox is starting. */
  onLost(listener: (sandboxId: string, reason: string) => void): void;
  stop(sandboxId: string): Promise<void>;
  remove(sandboxId: string): Promise<void>;
  /** Returns the IDs of the sandboxes that have any resources on the host. */
  list(): Promise<string[]>;
  /** Returns the path of the sandbox's network namespace; undefined if it uses the host's. */
  netnsPath(sandbox: SandboxRecord): string | undefined;
  /** Returns further details for users, as plain JSON-compatible data, such as the PID of the infra process. */
  describe?(sandbox: SandboxRecord): Promise<Record<string, unknown>>;
  /** Returns a sandbox's resource usage that the host's cgroups do not measure; undefined if it is unknown. */
  use?(sandbox: SandboxRecord): Promise<CgroupStats | undefined>;
}

import type { CgroupStats } from '@podwright/host';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** The parts of a sandbox that its containers use. An absent namespace is the host's. */
export type SandboxEnvironment = {
  /** The user namespace, if the pod requests one (`userNamespace`), owns the others. */
  namespaces: { network?: string; ipc?: string; uts?: string; user?: string };
  /** Files of the pod, which are mounted into each container. */
  files: { hosts: string; hostname: string; resolvConf: string };
  /** Source of the mount at /dev/shm. */
  shm: string;
};

/**
 * Creates the environment that a pod's containers share. The runtime handler selects the controller. The sandbox service calls `create`,
 * then `start` (while or after the network is set up), and later `stop` and `remove`.
 *
 * All resources are found by the sandbox's id: `stop` and `remove` are idempotent, and work after a restart of the process and after any
 * part of `create` and `start`. After `stop` the sandbox has no process, pinned namespace or mount left; after `remove` no file remains
 * either.
 *
 * The flags describe differences that only the service can act on, because it controls the network and the containers. They are optional
 * and default to false, so that older plugins keep working.
 */
export interface SandboxController {
  readonly name: string;
  /**
   * Whether the service must call `start` only after the network is set up, as for a virtual machine, which reads its network configuration
   * when it boots.
   */
  readonly startsInNetwork?: boolean;
  /** Whether the sandbox itself runs the tasks of its containers, which must then be deleted before it is stopped. */
  readonly holdsTasks?: boolean;
  /** Whether the controller creates the user namespaces that pods request (`userNamespace`). */
  readonly makesUserNamespaces?: boolean;
  /** Whether `create` accepts namespaces from `SandboxNamespaces.prepare`, which only built-in controllers support. */
  readonly takesReadySandboxes?: boolean;
  /** Creates the namespaces. Returns the path of the network namespace to set up; none for the host's network. */
  create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }>;
  /** Creates everything else that does not depend on addresses. */
  start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void>;
  /** Passes on the sandbox's addresses, for example for its hosts file. */
  setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void>;
  environment(sandbox: SandboxRecord): SandboxEnvironment;
  /** Path of the PID namespace that all containers of the pod share. The first call starts its init. */
  sharedPidNamespace(sandbox: SandboxRecord, signal: AbortSignal): Promise<string>;
  /**
   * Whether everything that `create` and `start` made still exists; if not, `reason` explains it to users. From then on `onLost` reports a
   * loss.
   */
  status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }>;
  /** Calls `listener` when a sandbox's infra process exits by itself, even during its start. */
  onLost(listener: (sandboxId: string, reason: string) => void): void;
  stop(sandboxId: string): Promise<void>;
  remove(sandboxId: string): Promise<void>;
  /** Ids of the sandboxes that have any resource on the host. */
  list(): Promise<string[]>;
  /** Path of the sandbox's network namespace; undefined if it uses the host's. */
  netnsPath(sandbox: SandboxRecord): string | undefined;
  /** Further details for users, as plain data for JSON, such as the pid of the infra process. */
  describe?(sandbox: SandboxRecord): Promise<Record<string, unknown>>;
  /** Resource usage of a sandbox that the host's cgroups do not measure; undefined if it is unknown. */
  use?(sandbox: SandboxRecord): Promise<CgroupStats | undefined>;
}

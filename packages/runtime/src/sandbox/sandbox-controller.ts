import type { CgroupStats } from '@podwright/host';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** The parts of a sandbox used by its containers. An absent namespace means the host's. */
export type SandboxEnvironment = {
  /** The namespaces' paths. If the pod requests a user namespace (`userNamespace`), that namespace owns the others. */
  namespaces: { network?: string; ipc?: string; uts?: string; user?: string };
  /** The pod's files, mounted into each of its containers. */
  files: { hosts: string; hostname: string; resolvConf: string };
  /** Host path that is mounted at /dev/shm in each container. */
  shm: string;
};

/**
 * Creates the environment shared by a pod's containers. The controller is selected by the runtime handler. The sandbox service calls
 * `create`, then `start` (during or after network setup), and later `stop` and `remove`.
 *
 * All resources are found by sandbox ID. `stop` and `remove` are idempotent, and work after a restart of the process, and even if `create`
 * or `start` failed halfway. `stop` leaves no processes, pinned namespaces or mounts behind; `remove` leaves no files either.
 *
 * The flags are for differences that only the sandbox service can handle, because it controls the network and the containers. They are
 * optional and default to false, so that older plugins keep working.
 */
export interface SandboxController {
  readonly name: string;
  /**
   * Whether the network must be set up before `start` is called, for example because the sandbox is a virtual machine that reads its
   * network configuration at boot.
   */
  readonly startsInNetwork?: boolean;
  /** Whether the sandbox itself runs its containers' tasks, which must then be deleted before the sandbox is stopped. */
  readonly holdsTasks?: boolean;
  /** Whether the controller can create user namespaces for pods (`userNamespace`). */
  readonly makesUserNamespaces?: boolean;
  /** Whether `create` accepts namespaces from `SandboxNamespaces.prepare`. Only built-in controllers support this. */
  readonly takesReadySandboxes?: boolean;
  /** Creates the namespaces. Returns the path of the network namespace to set up; none if the sandbox uses the host's network. */
  create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }>;
  /** Creates all parts of the sandbox, other than its namespaces, that do not depend on its IP addresses. */
  start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void>;
  /** Passes the sandbox's IP addresses to the controller, for example for the hosts file. */
  setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void>;
  environment(sandbox: SandboxRecord): SandboxEnvironment;
  /** Returns the path of the PID namespace shared by all containers in the pod. Starts its init process on the first call. */
  sharedPidNamespace(sandbox: SandboxRecord, signal: AbortSignal): Promise<string>;
  /**
   * Returns whether everything created by `create` and `start` still exists; if not, `reason` is a user-facing explanation. Later losses
   * are reported by `onLost`.
   */
  status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }>;
  /** Subscribes to infra processes that exit on their own, even while the sandbox is starting. */
  onLost(listener: (sandboxId: string, reason: string) => void): void;
  stop(sandboxId: string): Promise<void>;
  remove(sandboxId: string): Promise<void>;
  /** Returns the IDs of the sandboxes that have any resources on the host. */
  list(): Promise<string[]>;
  /** Returns the path of the sandbox's network namespace; undefined if it uses the host's. */
  netnsPath(sandbox: SandboxRecord): string | undefined;
  /** Returns additional user-facing details as plain JSON-compatible data, for example the infra process's PID. */
  describe?(sandbox: SandboxRecord): Promise<Record<string, unknown>>;
  /** Returns the part of a sandbox's resource usage that the host's cgroups do not measure; undefined if it is unknown. */
  use?(sandbox: SandboxRecord): Promise<CgroupStats | undefined>;
}

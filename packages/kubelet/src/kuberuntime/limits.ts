/**
 * How long after a container's exit the container runtime might still change the exit reason, for example to OOMKilled (see
 * `RuntimePodReader`).
 */
export const REASON_SETTLES_MS = 1000;

/** How long after a container's exit the runtime may still correct the reason, for example to OOMKilled (see `RuntimePodReader`). */
export const REASON_SETTLES_MS = 1000;

/** How long after a container's end its reason may still come (`RuntimePodReader`). */
export const REASON_SETTLES_MS = 1000;

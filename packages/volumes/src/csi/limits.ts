/** Upstream's bound of a call to a CSI driver. */
export const CSI_TIMEOUT_MS = 120_000;

/** Timeout of a call to a CSI driver: upstream's. */
export const CSI_TIMEOUT_MS = 120_000;

/** Timeout for a call to a CSI driver, as in upstream. */
export const CSI_TIMEOUT_MS = 120_000;
